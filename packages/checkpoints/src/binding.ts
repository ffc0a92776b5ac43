/**
 * How a file's tensors hold our parameters: the same numbers, in another order or under another name. One description, read
 * in both directions, so that what is written is what was read, bit for bit.
 *
 * Our weights are [in, out]; torch's Linear keeps [out, in]. A fused projection keeps the outputs of several of ours in one
 * tensor: all of one after all of another, or interleaved head by head.
 */
export type Shape = readonly number[];

export interface Binding {
  /** Our parameter paths. */
  readonly ours: readonly string[];
  /** Names of the file's tensors. */
  readonly theirs: readonly string[];
  /** The shapes that the file's tensors must have when our parameters have these. */
  theirShapes(ours: readonly Shape[]): Shape[];
  /** Calls `pair` once for every number: which of ours and where in it, which of theirs and where in it (row-major). */
  walk(ours: readonly Shape[], pair: (part: number, at: number, theirPart: number, theirAt: number) => void): void;
}

/** A tensor as it is. */
export function copy(ours: string, theirs: string): Binding {
  return {
    ours: [ours],
    theirs: [theirs],
    theirShapes: (shapes) => [...shapes],
    walk([shape], pair) {
      const size = sizeOf(shape!);
      for (let i = 0; i < size; i++) pair(0, i, 0, i);
    },
  };
}

/** The same numbers in the same order under another shape, where the file's has more or fewer axes than ours. */
export const shaped = (binding: Binding, theirs: Shape): Binding => ({
  ...binding,
  theirShapes: () => binding.theirs.map(() => theirs),
});

/** One tensor for each layer in the file, and one of ours for all of them: [layers, …]. */
export function stacked(ours: string, theirs: readonly string[]): Binding {
  return {
    ours: [ours],
    theirs,
    theirShapes: ([shape]) => theirs.map(() => shape!.slice(1)),
    walk([shape], pair) {
      const size = sizeOf(shape!.slice(1));
      theirs.forEach((_, layer) => {
        for (let i = 0; i < size; i++) pair(0, layer * size + i, layer, i);
      });
    },
  };
}

/** Where a fused tensor keeps its outputs. */
export interface Fusion {
  /** Axis of the outputs in the file's matrix: first in torch's Linear, last in GPT-2's Conv1D. */
  readonly outputs: 'first' | 'last';
  /** Groups one after another, each with its share of every part in turn. 1: all of one part after all of another. */
  readonly groups: number;
}

/** Matrices [in, outₚ] (or vectors [outₚ]) side by side in one tensor. */
export function fused(ours: readonly string[], theirs: string, { outputs, groups }: Fusion): Binding {
  const total = (shapes: readonly Shape[]) => shapes.reduce((sum, shape) => sum + shape.at(-1)!, 0);
  return {
    ours,
    theirs: [theirs],
    theirShapes(shapes) {
      if (shapes[0]!.length === 1) return [[total(shapes)]];
      const inputs = shapes[0]![0]!;
      return [outputs === 'first' ? [total(shapes), inputs] : [inputs, total(shapes)]];
    },
    walk(shapes, pair) {
      const all = total(shapes);
      let start = 0; // of this part's share within a group
      shapes.forEach((shape, part) => {
        const inputs = shape.length === 1 ? 1 : shape[0]!;
        const size = shape.at(-1)!;
        const share = size / groups;
        for (let unit = 0; unit < size; unit++) {
          const theirUnit = Math.floor(unit / share) * (all / groups) + start + (unit % share);
          for (let i = 0; i < inputs; i++)
            pair(part, i * size + unit, 0, outputs === 'first' ? theirUnit * inputs + i : i * all + theirUnit);
        }
        start += share;
      });
    },
  };
}

/** A matrix [in, out] kept as [out, in]. */
export const transposed = (ours: string, theirs: string): Binding =>
  fused([ours], theirs, { outputs: 'first', groups: 1 });

/** torch's Linear. Here and below: what the model lacks, such as a bias, is left out when the bindings are used. */
export const linear = (ours: string, theirs: string): Binding[] => [
  transposed(`${ours}.weight`, `${theirs}.weight`),
  copy(`${ours}.bias`, `${theirs}.bias`),
];

/** GPT-2's Conv1D: a linear layer that keeps [in, out], as we do. */
export const conv1d = (ours: string, theirs: string): Binding[] => [
  copy(`${ours}.weight`, `${theirs}.weight`),
  copy(`${ours}.bias`, `${theirs}.bias`),
];

export const norm = (ours: string, theirs: string): Binding[] => [
  copy(`${ours}.gain`, `${theirs}.weight`),
  copy(`${ours}.bias`, `${theirs}.bias`),
];

/** Several of our projections in one of theirs. */
export const fusedLinear = (ours: readonly string[], theirs: string, how: Fusion): Binding[] =>
  ['weight', 'bias'].map((name) =>
    fused(
      ours.map((path) => `${path}.${name}`),
      `${theirs}.${name}`,
      how,
    ),
  );

/** The three projections that fused tensors hold, in their order. */
export const queryKeyValue = (attention: string): string[] =>
  ['query', 'key', 'value'].map((name) => `${attention}.${name}`);

/** The bindings of every layer, from our path of one and theirs. */
export const layers = (
  count: number,
  theirs: string,
  bind: (ours: string, theirs: string) => readonly Binding[],
): Binding[] => Array.from({ length: count }, (_, l) => bind(`layers.${l}`, `${theirs}.${l}`)).flat();

const sizeOf = (shape: Shape): number => shape.reduce((a, b) => a * b, 1);
