/** Parameters are described first; core creates them with a stream of its own for each, so order never matters. */
import type { Tensor, Variable } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import type { Init, ParamSpec, ParamSpecs } from './encoding.ts';
import { normal, stream, uniform } from './random.ts';

/** Parameters by path, such as `layers.0.attention.query.weight`. */
export type Params = Readonly<Record<string, Tensor>>;
/** The same as variables, which training writes to. */
export type Variables = Readonly<Record<string, Variable>>;

/** Values of one parameter, drawn in float64 from the stream of its path and rounded once to float32. */
export function drawParam(spec: ParamSpec, seed: number, path: string): Float32Array {
  const values = new Float32Array(sizeOf(spec.shape));
  const random = stream(seed, path);
  const draw = drawer(spec.init, values.length, path);
  for (let i = 0; i < values.length; i++) values[i] = draw(i);
  return values;

  function drawer(init: Init, size: number, name: string): (i: number) => number {
    switch (init.kind) {
      case 'normal':
        return () => (init.mean ?? 0) + init.std * normal(random);
      case 'uniform':
        return () => init.low + (init.high - init.low) * uniform(random);
      case 'constant':
        return () => init.value;
      case 'values':
        if (init.values.length !== size)
          throw new RangeError(`${name}: ${init.values.length} values for ${size} entries`);
        return (i) => init.values[i]!;
    }
  }
}

/** Allocates trainable variables for every spec. The caller disposes them (`disposeParams`). */
export function createParams(specs: ParamSpecs, seed: number): Variables {
  const variables: Record<string, Variable> = {};
  for (const [path, spec] of Object.entries(specs))
    variables[path] = tf.tidy(() => tf.variable(tf.tensor(drawParam(spec, seed, path), [...spec.shape], 'float32')));
  return variables;
}

/** Frees every one of them. */
export function disposeParams(params: Params): void {
  for (const tensor of Object.values(params)) tensor.dispose();
}

/** How many numbers a tensor of this shape holds; 1 for a scalar. */
export const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** Number of trainable scalars; nothing is allocated. */
export const countParams = (specs: ParamSpecs): number =>
  Object.values(specs).reduce((total, spec) => total + sizeOf(spec.shape), 0);

/** The specs or tensors under `prefix.`, with the prefix taken off, and its inverse. */
export function withoutPrefix<T>(all: Readonly<Record<string, T>>, prefix: string): Record<string, T> {
  const entries = Object.entries(all).filter(([path]) => path.startsWith(`${prefix}.`));
  return Object.fromEntries(entries.map(([path, value]) => [path.slice(prefix.length + 1), value]));
}

/** The same values under `prefix.path` in place of `path`. */
export function withPrefix<T>(some: Readonly<Record<string, T>>, prefix: string): Record<string, T> {
  return Object.fromEntries(Object.entries(some).map(([path, value]) => [`${prefix}.${path}`, value]));
}

/** Layer `index`'s part of a parameter whose first axis is the layer. Sliced: tfjs has no gradient for unstacking a single member. */
export function layerOf<T extends Tensor>(stacked: Tensor, index: number): T {
  const shape = stacked.shape.slice(1);
  return tf.slice(stacked, [index, ...shape.map(() => 0)], [1, ...shape]).reshape(shape) as T;
}
