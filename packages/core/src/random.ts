/**
 * Seeded randomness: every draw has a named stream, so no draw depends on the order of others.
 * (tfjs's own generators treat seed 0 as "unseeded", and draw differently per backend.)
 */
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';

/** A stream of random bits; drawing from it moves it on. `stream` starts one. */
export type Random = RandomGenerator;

/** 32-bit FNV-1a over UTF-16 code units: a stable name → seed. */
export function hash32(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

/** The stream called `name` under a root seed: all 128 bits of state come from both. */
export function stream(seed: number, name: string): Random {
  return xoroshiro128plusFromState([1, 2, 3, 4].map((word) => avalanche(hash32(`${word}/${seed}/${name}`)) | 0));
}

/** MurmurHash3's finaliser, 32 bits to 32 unsigned bits: FNV alone leaves similar names with similar seeds. */
export function avalanche(h: number): number {
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The generator's state as JSON data. Posenc's own runs draw anew from seed, name and step, and keep none. */
export const stateOf = (random: Random): readonly number[] => random.getState();
/** The stream that goes on where `stateOf` took it. */
export const fromState = (state: readonly number[]): Random => xoroshiro128plusFromState(state);

/** Uniform in [0, 1). */
export const uniform = (random: Random): number => uniformFloat64(random);

/** Uniform integer in [0, n). */
export const below = (random: Random, n: number): number => uniformInt(random, 0, n - 1);

/** Standard normal (Box–Muller, float64). */
export function normal(random: Random): number {
  const u = 1 - uniform(random);
  return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * uniform(random));
}

/** A uniformly random permutation of 0..n−1 (Fisher–Yates). */
export function permutation(random: Random, n: number): number[] {
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = below(random, i + 1);
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}

/** k distinct integers of 0..n−1 in random order. */
export function sample(random: Random, n: number, k: number): number[] {
  const seen = new Set<number>();
  for (let i = n - k; i < n; i++) {
    // Floyd: one draw per element, whatever n is
    const candidate = below(random, i + 1);
    seen.add(seen.has(candidate) ? i : candidate);
  }
  const chosen = [...seen];
  return permutation(random, k).map((i) => chosen[i]!);
}
