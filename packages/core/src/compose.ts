/** The algebra of encodings: functions from encodings to an encoding. */

import type { Tensor, Tensor2D, Tensor3D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import type { Dims, Encoding, Hooks, LayerHooks, Positions, Site, Traits } from './encoding.ts';
import { PosencError } from './errors.ts';
import { createParams, disposeParams, withoutPrefix, withPrefix } from './params.ts';
import { range } from './positions.ts';

/**
 * All members at once, in order: `embed`, `infuse` and `rotate` compose, biases add, scales multiply, what is carried is
 * carried side by side. At most one member may fill `scores`, and at most one `mix`: PosencError otherwise.
 */
export function compose(members: readonly Encoding[]): Encoding {
  return join(members, (bound) => {
    const embeds = bound.flatMap((hooks) => (hooks.embed ? [hooks.embed] : []));
    return {
      ...(embeds.length && { embed: (x: Tensor3D) => embeds.reduce((y, embed) => embed(y), x) }),
      layer: (index) => composeLayer(bound.map((hooks) => hooks.layer?.(index) ?? {})),
    };
  });
}

/**
 * Layer l uses member pattern[l mod length], and counts as the member's own next layer: one that serves 3 layers needs parameters
 * for 3 (`layersPerMember`; the registry creates members so). Members with `embed` act before any layer and are rejected.
 */
export function perLayer(members: readonly Encoding[], pattern: readonly number[], dims: Dims): Encoding {
  const outside = pattern.find((i) => !Number.isInteger(i) || i < 0 || i >= members.length);
  if (pattern.length === 0 || outside !== undefined)
    throw new PosencError(
      `perLayer: pattern ${JSON.stringify(pattern)} must be a non-empty list of member indices 0 to ${members.length - 1}`,
    );
  const served = layersPerMember(members.length, pattern, dims.numLayers);
  members.forEach((member, i) => {
    if (holesOf(member, { ...dims, numLayers: served[i]! }).includes('embed'))
      throw new PosencError(
        `perLayer: member ${i} adds vectors to the embeddings, which happens once before all layers; use "compose" for it instead`,
      );
  });
  return join(members, (bound) => ({
    layer: (index) => {
      const member = pattern[index % pattern.length]!;
      return bound[member]!.layer?.(layersPerMember(members.length, pattern, index)[member]!) ?? {};
    },
  }));
}

/** How many of the first `numLayers` layers each member serves. */
export function layersPerMember(numMembers: number, pattern: readonly number[], numLayers: number): number[] {
  const counts = new Array<number>(numMembers).fill(0);
  for (let l = 0; l < numLayers; l++) counts[pattern[l % pattern.length]!]!++;
  return counts;
}

/** The holes of the grammar, in the order in which a forward pass comes to them. */
export const holes = ['embed', 'infuse', 'rotate', 'scale', 'relativeBias', 'carry', 'scores', 'bias', 'mix'] as const;
/** A hook by name: what an encoding may fill in. */
export type Hole = (typeof holes)[number];

/** Which holes of the grammar an encoding fills, found by asking for its hooks at one position. */
export function holesOf(encoding: Encoding, dims: Dims): Hole[] {
  return tf.tidy(() => {
    const params = createParams(encoding.params, 0);
    const one = range(1);
    const hooks = encoding.hooks(params)({ query: one, key: one, seqLen: { ...one, data: Int32Array.of(1) } });
    const layers = Array.from({ length: dims.numLayers }, (_, l) => hooks.layer?.(l) ?? {});
    disposeParams(params);
    return holes.filter((hole) =>
      hole === 'embed' ? hooks.embed !== undefined : layers.some((layer) => layer[hole] !== undefined),
    );
  });
}

/** What is true of several encodings used together. */
function join(members: readonly Encoding[], combine: (bound: Hooks[]) => Hooks): Encoding {
  const every = (trait: 'shiftInvariant') => members.every((m) => m.traits[trait]);
  const some = (trait: 'requiresCausal' | 'readsPositions' | 'readsSeqLen') => members.some((m) => m.traits[trait]);
  const traits: Traits = {
    maxPosition: Math.min(Number.POSITIVE_INFINITY, ...members.map((m) => m.traits.maxPosition)),
    shiftInvariant: every('shiftInvariant'),
    requiresCausal: some('requiresCausal'),
    readsPositions: some('readsPositions'),
    readsSeqLen: some('readsSeqLen'),
  };
  return {
    traits,
    params: Object.assign({}, ...members.map((member, i) => withPrefix(member.params, String(i)))),
    hooks: (params) => {
      const at = members.map((member, i) => member.hooks(withoutPrefix<Tensor>(params, String(i))));
      return (positions: Positions) => combine(at.map((hooks) => hooks(positions)));
    },
  };
}

function composeLayer(layers: LayerHooks[]): LayerHooks {
  const have = <K extends keyof LayerHooks>(hole: K) =>
    layers.flatMap((layer) => layer[hole] ?? []) as NonNullable<LayerHooks[K]>[];
  const single = <K extends 'scores' | 'mix'>(hole: K) => {
    const found = have(hole);
    if (found.length > 1)
      throw new PosencError(`compose: ${found.length} members fill "${hole}" in one layer; at most one may`);
    return found[0];
  };
  const sum = <T extends Tensor>(terms: T[]) => terms.reduce((a, b) => tf.add(a, b) as T);
  const [infuses, rotates, scales, relative, carries, biases] = [
    have('infuse'),
    have('rotate'),
    have('scale'),
    have('relativeBias'),
    have('carry'),
    have('bias'),
  ];
  const [scores, mix] = [single('scores'), single('mix')];

  // Each carrying member sees its own columns of what was carried; their widths are known once `carry` has run.
  const carriers = layers.filter((layer) => layer.carry);
  let widths: number[] = [];
  const siteOf = (layer: LayerHooks, site: Site): Site => {
    const i = carriers.indexOf(layer);
    if (i < 0 || carriers.length === 1) return site;
    return Object.create(site, { carried: { value: tf.split(site.carried!, widths, 3)[i] } }) as Site;
  };
  const biased = layers.filter((layer) => layer.bias);
  return {
    ...(infuses.length && { infuse: (x) => infuses.reduce((y, infuse) => infuse(y), x) }),
    ...(rotates.length && { rotate: (u, side) => rotates.reduce((v, rotate) => rotate(v, side), u) }),
    ...(scales.length && {
      scale: scales.reduce((a, b) =>
        typeof a === 'number' && typeof b === 'number' ? a * b : (tf.mul(a, b) as Tensor4D),
      ),
    }),
    ...(relative.length && { relativeBias: (offsets) => sum<Tensor2D>(relative.map((bias) => bias(offsets))) }),
    ...(carries.length && {
      carry: (x) => {
        const parts = carries.map((carry) => carry(x));
        widths = parts.map((part) => part.shape[3]);
        return tf.concat(parts, 3);
      },
    }),
    ...(biases.length && { bias: (site) => sum<Tensor4D>(biased.map((layer) => layer.bias!(siteOf(layer, site)))) }),
    ...(scores && { scores: (site) => scores(siteOf(layers.find((layer) => layer.scores)!, site)) }),
    ...(mix && { mix }),
  };
}
