/** RoPE in some layers and no positions in the others, as `perLayer` says it. */
import { PosencError } from '@posenc/core';
import type { EncodingJson } from './family.ts';
import { shortestPattern } from './layer-types.ts';

export const readInterleaved = (rope: EncodingJson, numLayers: number, hasRope: (layer: number) => boolean) => ({
  type: 'perLayer',
  of: [rope, { type: 'nope' }],
  pattern: shortestPattern(Array.from({ length: numLayers }, (_, l) => (hasRope(l) ? 0 : 1))),
});

/** The members of a `perLayer` encoding. Throws PosencError when they are not of these types. */
export function membersOf(encoding: EncodingJson, types: readonly string[]): EncodingJson[] {
  const members = encoding.of as readonly EncodingJson[];
  const found = members.map(({ type }) => type);
  if (found.join() !== types.join())
    throw new PosencError(
      `this checkpoint can have a perLayer encoding of ${types.join(' and ')}, in this order, and not of ${found.join(' and ')}`,
    );
  return [...members];
}

export const ropeIn = (encoding: EncodingJson): EncodingJson => membersOf(encoding, ['rope', 'nope'])[0]!;

export function usesRope(encoding: EncodingJson, numLayers: number): boolean[] {
  const pattern = encoding.pattern as readonly number[];
  return Array.from({ length: numLayers }, (_, l) => pattern[l % pattern.length] === 0);
}
