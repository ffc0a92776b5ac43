/** Laws about heads: none is special but by its own parameters, and grouping is only sharing. */
import type { Encoding, Hooks, LayerHooks, Site } from '@posenc/core';
import type { Tensor, Tensor2D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { createBench, logitsOf, tokensFor, type Weights } from '../bench.ts';
import type { LawSpec } from '../case.ts';
import { axesOf, type BlockAxis, takeBlocks } from './axes.ts';

export const headPermutation: LawSpec = {
  law: 'head permutation',
  statement:
    'Exchanging heads, in the projections and along the head axis of every encoding parameter, leaves the logits unchanged; constants that differ by head may stand in relativeBias, bias and scale only, and move along.',
  async check(c) {
    const stack = c.stacks.plain;
    const bench = await c.bench(stack);
    const { numHeads, headDim, modelDim, numLayers } = stack.dims;
    if (numHeads < 2) return;
    // A cycle: it commutes with no reversal of three heads or more.
    const from = Array.from({ length: numHeads }, (_, h) => (h + 1) % numHeads);
    const axes = axesOf(c.subject, stack.dims, 'numHeads');
    const weights: Record<string, Float32Array> = { ...bench.weights };
    const move = (path: string, axis: Omit<BlockAxis, 'param' | 'count'>) => {
      weights[path] = takeBlocks(weights[path]!, axis, from);
    };
    for (let l = 0; l < numLayers; l++) {
      const [width, at] = [numHeads * headDim, `layers.${l}.attention`];
      for (const side of ['query', 'key', 'value']) {
        move(`${at}.${side}.weight`, { shape: [modelDim, width], axis: 1, block: headDim });
        move(`${at}.${side}.bias`, { shape: [width], axis: 0, block: headDim });
      }
      move(`${at}.output.weight`, { shape: [width, modelDim], axis: 0, block: headDim });
    }
    for (const axis of axes) move(`encoding.${axis.param}`, axis);

    const moved = createBench(stack, movingConstants(bench.encoding, bench.weights, axes, from), c.settings.seed);
    const tokens = tokensFor(bench, 2, c.lengthFor(bench));
    const input = { tokens };
    c.equal(
      await logitsOf(moved, input, weights),
      await logitsOf(bench, input),
      `logits with heads ${from.join(', ')} in place of 0 … ${numHeads - 1}, with those of heads in order (${stack.name})`,
      'a head index reversed or shifted between parameters and heads; heads treated unlike (some left unrotated); heads and channels mixed in a reshape',
    );
  },
};

/**
 * The encoding with its constants moved along with their heads. Constants are what still tells heads apart when all have
 * the parameters of the first: the rows of `relativeBias` under such parameters, of `bias` where there is no content, and of
 * `scale`, where they are factors.
 */
function movingConstants(
  encoding: Encoding,
  weights: Weights,
  axes: readonly BlockAxis[],
  from: readonly number[],
): Encoding {
  const alike = Object.entries(encoding.params).map(([param, { shape }]): [string, Float32Array, number[]] => {
    let values = weights[`encoding.${param}`]!;
    for (const axis of axes)
      if (axis.param === param)
        values = takeBlocks(
          values,
          axis,
          from.map(() => 0),
        );
    return [param, values, [...shape]];
  });
  return {
    ...encoding,
    hooks: (params) => (at) => {
      const own = encoding.hooks(params)(at);
      const same = Object.fromEntries(
        alike.map(([param, values, shape]): [string, Tensor] => [param, tf.tensor(values, shape)]),
      );
      const constants = encoding.hooks(same)(at);
      return moveRows(own, constants, from);
    },
  };
}

const moveRows = (own: Hooks, constants: Hooks, from: readonly number[]): Hooks => ({
  ...own,
  layer: (index) => {
    const [layer, fixed] = [own.layer?.(index) ?? {}, constants.layer?.(index) ?? {}];
    const moved = <T extends Tensor>(bias: T, rows: Tensor, axis: number): T =>
      rows.shape[axis] === 1
        ? bias
        : (tf.add(bias, tf.sub(tf.gather(rows, tf.tensor1d([...from], 'int32'), axis), rows)) as T);
    return {
      ...layer,
      ...(layer.scale !== undefined &&
        fixed.scale !== undefined && { scale: movedFactors(layer.scale, fixed.scale, from) }),
      ...(layer.relativeBias &&
        fixed.relativeBias && {
          relativeBias: (offsets) => moved<Tensor2D>(layer.relativeBias!(offsets), fixed.relativeBias!(offsets), 0),
        }),
      ...(layer.bias &&
        fixed.bias && {
          bias: (site) => moved<Tensor4D>(layer.bias!(site), fixed.bias!(withoutContent(site)), 1),
        }),
    };
  },
});

/** A factor of 0 says nothing of what it would be multiplied with: there its successor stands alone. */
function movedFactors(own: Scale, constants: Scale, from: readonly number[]): Scale {
  if (typeof own === 'number' || typeof constants === 'number' || constants.shape[1] === 1) return own;
  const next = tf.gather(constants, tf.tensor1d([...from], 'int32'), 1);
  const ratios = tf.divNoNan(next, constants);
  return tf.where(tf.equal(constants, 0), next, tf.mul(own, ratios));
}

type Scale = NonNullable<LayerHooks['scale']>;

/** The same site with zeros for all that is content. */
const withoutContent = (site: Site): Site => ({
  get x() {
    return tf.zerosLike(site.x);
  },
  q: tf.zerosLike(site.q),
  get k() {
    return tf.zerosLike(site.k);
  },
  carried: site.carried && tf.zerosLike(site.carried),
  scoreScale: site.scoreScale,
  scores: () => tf.zerosLike(site.scores()),
  project: (side, table) => tf.zerosLike(site.project(side, table)),
});

export const groupedHeads: LawSpec = {
  law: 'grouped heads',
  statement:
    'Query heads that share a key/value head have the logits of a stack in which each has a key/value head of its own with the same weights.',
  async check(c) {
    const stack = c.stacks.grouped;
    const { numHeads, numKvHeads, headDim, modelDim, numLayers } = stack.dims;
    if (numHeads === numKvHeads) return;
    const bench = await c.bench(stack);
    const full = {
      name: `${stack.name}, ungrouped`,
      config: { ...stack.config, numKvHeads: numHeads },
      dims: { ...stack.dims, numKvHeads: numHeads },
    };
    const ungrouped = createBench(full, c.subject.create(full.dims), c.settings.seed);
    const from = Array.from({ length: numHeads }, (_, h) => Math.floor((h * numKvHeads) / numHeads));
    const weights: Record<string, Float32Array> = { ...bench.weights };
    const repeat = (path: string, axis: Omit<BlockAxis, 'param' | 'count'>) => {
      weights[path] = takeBlocks(weights[path]!, axis, from);
    };
    for (let l = 0; l < numLayers; l++)
      for (const side of ['key', 'value']) {
        const [width, at] = [numKvHeads * headDim, `layers.${l}.attention.${side}`];
        repeat(`${at}.weight`, { shape: [modelDim, width], axis: 1, block: headDim });
        repeat(`${at}.bias`, { shape: [width], axis: 0, block: headDim });
      }
    for (const [param, { shape }] of Object.entries(bench.encoding.params))
      shape.forEach((size, axis) => {
        if (ungrouped.encoding.params[param]?.shape[axis] !== size)
          repeat(`encoding.${param}`, { shape, axis, block: size / numKvHeads });
      });
    const tokens = tokensFor(bench, 2, c.lengthFor(bench));
    c.equal(
      await logitsOf(bench, { tokens }),
      await logitsOf(ungrouped, { tokens }, weights),
      `grouped heads with the same heads ungrouped (${stack.name})`,
      'numHeads assumed where keys have numKvHeads; query heads matched to the wrong key/value head',
    );
  },
};
