/** Laws about learning: gradients are right, and reach everything that is declared to be learned. */
import { explicit, type Input, normal, stream } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { type Bench, logitsOf, tokensFor, type Weights, withParams } from '../bench.ts';
import type { Case, LawSpec } from '../case.ts';
import { tolerances } from '../tolerance.ts';
import { axesOf, type BlockAxis, takeBlocks } from './axes.ts';
import { constant } from './placing.ts';

/** Σ weightsᵢ · logitsᵢ with random weights of norm 1: a loss of size 1 that every logit takes part in. */
interface Loss {
  readonly input: Input;
  readonly weights: Float32Array;
}

export function lossFor(bench: Bench, input: Input): Loss {
  const { rows, cols } = input.tokens;
  const size = rows * cols * bench.stack.config.vocabSize;
  const random = stream(0, 'loss');
  return { input, weights: Float32Array.from({ length: size }, () => normal(random) / Math.sqrt(size)) };
}

/** Gradient of the loss for every parameter that one reaches, on the host. */
export function gradientsOf(
  bench: Bench,
  loss: Loss,
  weights: Weights = bench.weights,
): Promise<Record<string, Float32Array>> {
  return withParams(bench.model.params, weights, async (params) => {
    const { value, grads } = tf.variableGrads(() => {
      const { logits } = bench.model.forward(params, loss.input);
      return tf.sum(tf.mul(logits, tf.tensor(loss.weights, logits.shape))) as tf.Scalar;
    }, Object.values(params));
    const found: Record<string, Float32Array> = {};
    try {
      for (const [path, { name }] of Object.entries(params)) {
        const gradient = grads[name];
        if (gradient) found[path] = Float32Array.from(await gradient.data());
      }
    } finally {
      value.dispose();
      for (const gradient of Object.values(grads)) gradient?.dispose();
    }
    return found;
  });
}

async function lossAt(bench: Bench, loss: Loss, weights: Weights): Promise<number> {
  const { data } = await logitsOf(bench, loss.input, weights);
  return data.reduce((sum, logit, i) => sum + logit * loss.weights[i]!, 0);
}

/** Rows at positions 0, 1, 2, … and 0, 0, 1, 1, …: pairs of different tokens at distance 0 besides the diagonal. */
function gradientInput(bench: Bench): Input {
  const length = Math.min(20, bench.encoding.traits.maxPosition);
  const row = (step: number) => Array.from({ length }, (_, t) => Math.floor(t * step));
  return { tokens: tokensFor(bench, 2, length), positions: explicit([row(1), row(0.5)]), seqLen: length };
}

/** Every encoding parameter for itself; the model's weights by what an encoding could spoil. */
function groupsOf(bench: Bench): Record<string, string[]> {
  const paths = Object.keys(bench.weights);
  const groups: Record<string, string[]> = {};
  for (const path of paths) {
    const side = /attention\.(query|key)\.weight$/.exec(path)?.[1];
    const group = path.startsWith('encoding.')
      ? path
      : path === 'embedding.tokens'
        ? 'the token embedding'
        : side
          ? `the ${side} weights`
          : 'all other weights';
    groups[group] = [...(groups[group] ?? []), path];
  }
  return groups;
}

/**
 * Each entry moves by ± such a fraction of its tensor's size. The first is large for float32's sake. Where the loss curves strongly
 * (saturated softmax) or has kinks (interpolated tables), the difference comes closer to the derivative as the step shrinks.
 */
const steps = [1e-2, 5e-3, 2.5e-3, 1.25e-3];
/** What float32 rounding of the loss makes of a difference over 2 · step, times the step. */
const noise = 1e-6;
/** Gradients that are averaged where no difference agrees: more where few do not do. */
const points = [8, 32, 128];

export const gradients: LawSpec = {
  law: 'gradients',
  statement:
    'Gradients for the encoding’s parameters and the model’s are finite, also where all tokens stand at one position, and are what the loss rises by along random directions, by central differences or, where those straddle kinks, integrated.',
  async check(c) {
    for (const stack of c.serving().slice(1)) {
      const bench = await c.bench(stack);
      await finite(c, bench);
      const loss = lossFor(bench, gradientInput(bench));
      const found = await gradientsOf(bench, loss);
      for (const [group, paths] of Object.entries(groupsOf(bench)))
        for (const seed of [0, 1]) await alongOneDirection(c, bench, loss, found, group, paths, seed);
    }
  },
};

async function finite(c: Case, bench: Bench) {
  const tokens = tokensFor(bench, 2, 8);
  const inputs: [string, Input][] = [
    ['in order', gradientInput(bench)],
    ['all equal', { tokens, positions: constant(0, 8), seqLen: 8 }],
  ];
  for (const [what, input] of inputs)
    for (const [path, gradient] of Object.entries(await gradientsOf(bench, lossFor(bench, input))))
      if (!gradient.every(Number.isFinite))
        c.fail(
          `the gradient for ${path} at positions ${what} (${bench.stack.name})`,
          'values that are not finite',
          'a root, power or logarithm of distance 0; a branch not taken whose derivative is infinite (0 · ∞)',
        );
}

async function alongOneDirection(
  c: Case,
  bench: Bench,
  loss: Loss,
  found: Record<string, Float32Array>,
  group: string,
  paths: readonly string[],
  seed: number,
) {
  // ± the size of the tensor's own entries: a step is then the same small fraction of every weight.
  const directionOf = (path: string) => {
    const values = bench.weights[path]!;
    const size = Math.sqrt(values.reduce((sum, w) => sum + w * w, 0) / values.length);
    const random = stream(seed, `direction/${path}`);
    return values.map(() => (normal(random) < 0 ? -size : size));
  };
  const directions = new Map(paths.map((path) => [path, directionOf(path)]));
  const moved = (distance: number): Weights => {
    const weights: Record<string, Float32Array> = { ...bench.weights };
    for (const [path, direction] of directions)
      weights[path] = weights[path]!.map((w, i) => w + distance * direction[i]!);
    return weights;
  };
  const lossBy = (distance: number) => lossAt(bench, loss, moved(distance));
  const over = async (h: number) => ((await lossBy(h)) - (await lossBy(-h))) / (2 * h);
  const along = (gradients: Record<string, Float32Array>) => {
    let [slope, squares] = [0, 0];
    for (const [path, direction] of directions)
      gradients[path]?.forEach((g, i) => {
        slope += g * direction[i]!;
        squares += (g * direction[i]!) ** 2;
      });
    return { slope, size: Math.sqrt(squares) };
  };
  const { slope: analytic, size } = along(found);
  const sizeOf = (numeric: number) => Math.max(size, Math.abs(numeric));
  const agree = (slope: number, difference: number, step: number) =>
    Math.abs(difference - slope) <= tolerances.gradient * sizeOf(difference) + noise / step;
  let numeric = Number.NaN;
  for (const step of steps) {
    numeric = await over(step);
    if (agree(analytic, numeric, step)) return;
  }
  // Many kinks close by (ReLU) spoil every difference. The loss still rises by the integral of its slope, kinks or none.
  const step = steps.at(-1)!;
  for (const count of points) {
    let mean = 0;
    for (let k = 0; k < count; k++) {
      const at = ((2 * k + 1) / count - 1) * step;
      mean += along(await gradientsOf(bench, loss, moved(at))).slope / count;
    }
    if (agree(mean, numeric, step)) return;
  }
  c.fail(
    `the derivative along a random direction of ${group}: by gradient ${analytic.toExponential(3)}, by central difference ${numeric.toExponential(3)} (${bench.stack.name})`,
    `relative deviation ${(Math.abs(numeric - analytic) / sizeOf(numeric)).toExponential(1)}; tolerance ${tolerances.gradient}`,
    'a custom gradient that is wrong, or misses what it captured; a value detached (dataSync, a constant copy) on its way',
  );
}

export const reach: LawSpec = {
  law: 'every parameter learns',
  statement:
    'Each parameter the encoding declares receives a gradient that is not zero, each head’s and each layer’s part of it too, and so does each weight matrix of the model.',
  async check(c) {
    const bench = await c.bench(c.stacks.plain);
    const found = await gradientsOf(bench, lossFor(bench, gradientInput(bench)));
    const hint =
      'a parameter detached, never read, or cancelled by softmax; one layer’s or head’s part read in place of all; an embedding replaced instead of added to';
    const largest = (values: ArrayLike<number>) => Array.from(values).reduce((max, v) => Math.max(max, Math.abs(v)), 0);
    const check = (what: string, values: ArrayLike<number>) => {
      if (!(largest(values) > 1e-6)) c.fail(`the gradient for ${what} (${bench.stack.name})`, 'it is zero', hint);
    };
    for (const [path, { shape }] of Object.entries(bench.model.params))
      if (path.startsWith('encoding.') || shape.length > 1) check(path, found[path] ?? []);
    const part = (axis: BlockAxis, name: string) => {
      for (let i = 0; i < axis.count; i++)
        check(`encoding.${axis.param}, ${name} ${i}`, takeBlocks(found[`encoding.${axis.param}`]!, axis, [i]));
    };
    for (const axis of axesOf(c.subject, bench.stack.dims, 'numHeads')) part(axis, 'head');
    for (const axis of axesOf(c.subject, bench.stack.dims, 'numLayers')) part(axis, 'layer');
  },
};
