/**
 * What hooks return, held against the contract. Without this a shape that is wrong but broadcasts, a bias [1, n] for all heads say,
 * goes unnoticed, and any other fails deep inside TensorFlow.js without a word about whose it is. A tensor of integers, as
 * `tf.tensor2d(offsets)` of an Int32Array makes one, would be read as floats by some backends.
 */
import type { Tensor } from '@tensorflow/tfjs';
import { type Hole, holes } from './compose.ts';
import type { Dims, Encoding, Hooks, LayerHooks, Positions } from './encoding.ts';
import { PosencError } from './errors.ts';
import { brief, suggest } from './parse.ts';

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

const layerHoles = holes.filter((hole) => hole !== 'embed');

/** What the letters stand for in one call; one that is missing is the encoding's to choose. */
type Sizes = Readonly<Record<string, number>>;

/**
 * The same encoding, whose hooks throw PosencError when what they return is not of the contract's shape or not float32, when one
 * of them is none of the contract's, and when there are no hooks where some are wanted.
 *
 * @param name whose hooks they are, as the message calls it: 'encoding "mine"'
 */
export function withShapesChecked(encoding: Encoding, name: string, { numHeads: H }: Dims): Encoding {
  const { traits, params } = encoding;
  const check = <T extends Tensor>(hook: Hole, returned: T, sizes: Sizes): T => {
    const wanted = contract[hook];
    const shape = shapeOf(returned);
    if (shape?.length === wanted.length && shape.every((size, axis) => fits(size, wanted[axis]!, sizes))) {
      if (returned.dtype === 'float32') return returned;
      throw new PosencError(
        `${name}: its hook "${hook}" returned a tensor of ${returned.dtype}, and float32 is wanted: give "float32" where it is made (a tensor of integers is int32), or tf.cast(…, "float32")`,
      );
    }
    const numbers = wanted.map((axis) => axis.replace(/^[A-Za-z]+/, (letter) => String(sizes[letter] ?? letter)));
    throw new PosencError(
      `${name}: its hook "${hook}" returned ${shape ? `a tensor [${shape.join(', ')}]` : 'no tensor'}, and [${wanted.join(', ')}] = [${numbers.join(', ')}] is wanted`,
    );
  };

  /** Whether `given` is an object of hooks, and all of them are of the contract. */
  const checkKeys = (given: unknown, where: string, allowed: readonly string[]) => {
    if (kindOf(given) !== 'an object')
      throw new PosencError(
        `${name}: ${where} returned ${kindOf(given)}, and an object of hooks is wanted ({} for none)`,
      );
    for (const [hook, value] of Object.entries(given as object)) {
      if (!allowed.includes(hook))
        throw new PosencError(`${name}: ${where} returned an unknown hook "${brief(hook)}": ${suggest(hook, allowed)}`);
      if (hook !== 'scale' && value && typeof value !== 'function')
        throw new PosencError(
          `${name}: its hook "${hook}" is ${kindOf(value)}, and a function is wanted (leave out a hook that is not filled)`,
        );
    }
  };

  const checkLayer = (layer: LayerHooks, { query, key, seqLen }: Positions): LayerHooks => {
    checkKeys(layer, 'its hook "layer"', layerHoles);
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

  const checkHooks = (hooks: Hooks, at: Positions): Hooks => {
    checkKeys(hooks, 'its "hooks"', ['embed', 'layer']);
    return {
      ...(hooks.embed && {
        embed: (x) => check('embed', hooks.embed!(x), { B: x.shape[0], Tq: x.shape[1], E: x.shape[2] }),
      }),
      ...(hooks.layer && { layer: (index) => checkLayer(hooks.layer!(index), at) }),
    };
  };

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

/** What it is, as a message calls it. */
const kindOf = (given: unknown): string => {
  if (given === null || given === undefined) return String(given);
  if (Array.isArray(given)) return 'an array';
  if (given instanceof Promise) return 'a promise';
  return typeof given === 'object' ? 'an object' : `a ${typeof given}`;
};
