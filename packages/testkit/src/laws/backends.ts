import { type BackendName, useBackend } from '@posenc/backend';
import * as tf from '@tensorflow/tfjs';
import { type Bench, createBench, type Logits, logitsOf, tokensFor } from '../bench.ts';
import { type Case, deviation, type LawSpec } from '../case.ts';
import { toleranceOf, tolerances } from '../tolerance.ts';
import { gradientsOf, lossFor } from './gradients.ts';
import { gapped } from './placing.ts';

type Gradients = Record<string, Float32Array>;

export const agreement: LawSpec = {
  law: 'backend agreement',
  statement: 'Every backend asked for gives the logits and the gradients of the first, within its tolerance.',
  async check(c) {
    const before = tf.getBackend();
    const [first, ...others] = c.settings.backends;
    try {
      for (const stack of c.serving()) {
        const bench = createBench(stack, c.subject.create(stack.dims), c.settings.seed);
        const wanted = await readOn(first!, bench, c);
        for (const other of others) await compare(c, bench, [first!, other], wanted, await readOn(other, bench, c));
      }
    } finally {
      await tf.setBackend(before);
    }
  },
};

interface Reading {
  readonly counted: Logits;
  readonly gapped: Logits;
  readonly gradients: Gradients;
}

async function readOn(backend: BackendName, bench: Bench, c: Case): Promise<Reading> {
  await useBackend(backend);
  const { maxPosition } = bench.encoding.traits;
  const length = c.lengthFor(bench);
  const tokens = tokensFor(bench, 2, length);
  const counted = { tokens };
  const placed = { tokens, positions: gapped(2, length, maxPosition), seqLen: 3 * length };
  return {
    counted: await logitsOf(bench, counted),
    gapped: await logitsOf(bench, placed),
    gradients: await gradientsOf(bench, lossFor(bench, placed)),
  };
}

async function compare(c: Case, bench: Bench, [a, b]: [BackendName, BackendName], wanted: Reading, got: Reading) {
  const tolerance = c.settings.tolerance ?? Math.max(toleranceOf(a), toleranceOf(b));
  const hint =
    'trigonometry or logarithms on the device instead of tables from the host; an operation whose kernel or gradient differs between backends';
  const hold = (what: string, x: ArrayLike<number>, y: ArrayLike<number>, allowed: number) => {
    const { size } = deviation(x, y);
    if (!(size <= allowed))
      c.fail(
        `${what} on ${b} with those on ${a} (${bench.stack.name})`,
        `largest deviation ${size.toExponential(1)}; tolerance ${allowed.toExponential(1)}`,
        hint,
      );
  };
  hold('logits at positions in order', got.counted.data, wanted.counted.data, tolerance);
  hold('logits at positions with gaps', got.gapped.data, wanted.gapped.data, tolerance);
  for (const [path, gradient] of Object.entries(wanted.gradients)) {
    const size = Math.sqrt(gradient.reduce((sum, g) => sum + g * g, 0));
    hold(`the gradient for ${path}`, got.gradients[path] ?? [], gradient, tolerances.gradient * size + tolerance);
  }
}
