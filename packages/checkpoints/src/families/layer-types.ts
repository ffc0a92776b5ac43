/** Layers that differ: config.json lists a type for each, our configs a pattern that repeats. */
import { type ModelConfig, type ModelInput, PosencError, z } from '@posenc/core';

export const layerType = z.enum(['full_attention', 'sliding_attention']);
export type LayerType = z.output<typeof layerType>;

/** `layer_types`, or (before transformers 4.53) a rule of the family that says which layers see everything. */
export function layerTypes(
  listed: readonly LayerType[] | null | undefined,
  numLayers: number,
  isFull: (layer: number) => boolean,
): LayerType[] {
  if (listed && listed.length !== numLayers)
    throw new PosencError(`config.json: "layer_types" lists ${listed.length} layers, and the model has ${numLayers}`);
  return Array.from(
    { length: numLayers },
    (_, l) => listed?.[l] ?? (isFull(l) ? 'full_attention' : 'sliding_attention'),
  );
}

/** The shortest list that gives these when it repeats. */
export function shortestPattern<T>(all: readonly T[]): T[] {
  const period = all.findIndex((_, n) => n > 0 && all.every((value, i) => value === all[i % n]));
  return all.slice(0, period < 0 ? all.length : period);
}

/** `slidingWindow` for layers of these types. */
export function windows(types: readonly LayerType[], size: number): ModelInput['slidingWindow'] {
  const pattern = shortestPattern(types.map((type) => (type === 'full_attention' ? null : size)));
  return pattern.length > 1 ? pattern : (pattern[0] ?? undefined);
}

/** The types of a model's layers, and the size of its windows (one at most can be told). */
export function typesOf({ slidingWindow, numLayers }: ModelConfig): { types: LayerType[]; size: number | null } {
  const pattern = Array.isArray(slidingWindow) ? slidingWindow : [slidingWindow ?? null];
  const all = Array.from({ length: numLayers }, (_, l) => pattern[l % pattern.length]!);
  return {
    types: all.map((window) => (window === null ? 'full_attention' : 'sliding_attention')),
    size: all.find((window) => window !== null) ?? null,
  };
}
