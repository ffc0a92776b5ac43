/**
 * A figure that cannot be drawn from the data given: nothing finite, a bad domain, a size that does not fit.
 * A RangeError, because the kinds of input are checked by TypeScript and only their values can be wrong.
 */
export class FigureError extends RangeError {
  override readonly name = 'FigureError';
}

/** Refuses input that would draw as a blank or unreadable picture; `where` starts with the figure's name. */
export function check(condition: boolean, where: string, problem: string): asserts condition {
  if (!condition) throw new FigureError(`${where}: ${problem}`);
}
