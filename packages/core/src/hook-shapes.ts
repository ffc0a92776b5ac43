/**
 * What hooks return, held against the contract. Without this a shape that is wrong but broadcasts, a bias [1, n] for all heads say,
 * goes unnoticed, and any other fails deep inside TensorFlow.js without a word about whose it is.
 */
import type { Tensor } from '@tensorflow/tfjs';
import type { Hole } from './compose.ts';
import type { Dims, Encoding, Hooks, LayerHooks, Positions } from './encoding.ts';
import { PosencError } from './errors.ts';

/** In the letters of the contract; E: embeddingDim, N: the heads of the side that is turned. */
const contract: Readonly<Record<Hole, readonly string[]>> = {
  embed: ['B', 'Tq', 'E'],
  infuse: ['B', 'Tq', 'D'],
  rotate: ['B', 'N', 'Tq', 'Dr'],
  scale: ['B|1', 'H|1', 'Tq|1', 'Tk|1'],
  relativeBias: ['H', 'n'],
  carry: ['B', 'H', 'Tq', 'F'],
  scores: ['B', 'H', 'Tq', 'Tk'],
  bias: ['B|1', 'H|1', 'Tq|1', 'Tk|1'],
  mix: ['B', 'H', 'Tq', 'Dh'],
};

/** What the letters stand for in one call; one that is missing is the encoding's to choose. */
type Sizes = Readonly<Record<string, number>>;

/**
 * The same encoding, whose hooks throw PosencError when what they return is not of the contract's shape.
 *
 * @param name whose hooks they are, as the message calls it: 'encoding "mine"'
 */
export function withShapesChecked(encoding: Encoding, name: string, { numHeads: H }: Dims): Encoding {
  const { traits, params } = encoding;
  const check = <T extends Tensor>(hook: Hole, returned: T, sizes: Sizes): T => {
    const wanted = contract[hook];
    const shape = shapeOf(returned);
    if (shape?.length === wanted.length && shape.every((size, axis) => fits(size, wanted[axis]!, sizes)))
      return returned;
    const numbers = wanted.map((axis) => axis.replace(/^[A-Za-z]+/, (letter) => String(sizes[letter] ?? letter)));
    throw new PosencError(
      `${name}: its hook "${hook}" returned ${shape ? `a tensor [${shape.join(', ')}]` : 'no tensor'}, and [${wanted.join(', ')}] = [${numbers.join(', ')}] is wanted`,
    );
  };

  const checkLayer = (layer: LayerHooks, { query, key, seqLen }: Positions): LayerHooks => {
    const { infuse, rotate, scale, relativeBias, carry, scores, bias, mix } = layer;
    const pairs = { H, Tq: query.cols, Tk: key.cols };
    const turned: Record<string, number> = {}; // one width for queries and keys
    if (scale !== undefined && typeof scale !== 'number')
      check('scale', scale, { ...pairs, B: Math.max(query.rows, key.rows, seqLen.rows) });
    return {
      ...(scale !== undefined && { scale }),
      ...(infuse && {
        infuse: (x) => check('infuse', layer.infuse!(x), { B: x.shape[0], Tq: x.shape[1], D: x.shape[2] }),
      }),
      ...(rotate && {
        rotate: (u, side) => {
          const [B, N, Tq] = u.shape;
          const v = check('rotate', layer.rotate!(u, side), { ...turned, B, N, Tq });
          turned.Dr = v.shape[3];
          return v;
        },
      }),
      ...(relativeBias && {
        relativeBias: (offsets) => check('relativeBias', layer.relativeBias!(offsets), { H, n: offsets.length }),
      }),
      ...(carry && { carry: (x) => check('carry', layer.carry!(x), { H, B: x.shape[0], Tq: x.shape[1] }) }),
      ...(scores && { scores: (site) => check('scores', layer.scores!(site), { ...pairs, B: site.q.shape[0] }) }),
      ...(bias && { bias: (site) => check('bias', layer.bias!(site), { ...pairs, B: site.q.shape[0] }) }),
      ...(mix && {
        mix: (weights, v) => check('mix', layer.mix!(weights, v), { ...pairs, B: v.shape[0], Dh: v.shape[3] }),
      }),
    };
  };

  const checkHooks = (hooks: Hooks, at: Positions): Hooks => ({
    ...(hooks.embed && {
      embed: (x) => check('embed', hooks.embed!(x), { B: x.shape[0], Tq: x.shape[1], E: x.shape[2] }),
    }),
    ...(hooks.layer && { layer: (index) => checkLayer(hooks.layer!(index), at) }),
  });

  return {
    traits,
    params,
    hooks: (tensors) => {
      const bound = encoding.hooks(tensors);
      return (at) => checkHooks(bound(at), at);
    },
  };
}

const fits = (size: number, axis: string, sizes: Sizes): boolean => {
  const [letter, alternative] = axis.split('|');
  const wanted = sizes[letter!];
  return wanted === undefined || size === wanted || (alternative !== undefined && size === Number(alternative));
};

/** By what it has, not what it is: a plug-in may bring a copy of TensorFlow.js. */
const shapeOf = (returned: Tensor | undefined): readonly number[] | undefined =>
  Array.isArray(returned?.shape) ? returned.shape : undefined;
