/** Exit codes, and what is printed for each kind of failure. */
import { version } from './version.ts';

/** 0: done · 1: a mistake of the user's, told in one message · 2: the command line is wrong · 70: a defect of posenc · 130: Ctrl-C. */
export const exit = { ok: 0, mistake: 1, usage: 2, internal: 70, interrupted: 130 } as const;

/** By name, not `instanceof`: a plug-in may bring a copy of @posenc/core of its own. */
export const isMistake = (error: unknown): error is Error => error instanceof Error && error.name === 'PosencError';

/** The text for an error that nobody expected: all that a report needs. */
export function internalReport(error: unknown, argv: readonly string[]): string {
  const stack = error instanceof Error ? (error.stack ?? String(error)) : String(error);
  return [
    'internal error: this is a defect in posenc, not in what you typed. Please report it with the lines below.',
    `  posenc ${version} · Node.js ${process.version} · ${process.platform}-${process.arch}`,
    `  arguments: ${JSON.stringify(argv)}`,
    stack.replace(/^/gm, '  '),
    '',
  ].join('\n');
}

/** Ctrl-C was heard and obeyed; the message says how to go on. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** All was said already; only the exit code is left to give. */
export class Verdict extends Error {
  override readonly name = 'Verdict';
  readonly code: number;
  constructor(code: number) {
    super(`exit with ${code}`);
    this.code = code;
  }
}
