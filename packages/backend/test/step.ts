/** A training step of a small transformer in plain tfjs operations: forward, backward, SGD. What the kernels are for. */
import * as tf from '@tensorflow/tfjs';

export interface Sizes {
  readonly numLayers: number;
  readonly modelDim: number;
  readonly numHeads: number;
  readonly batch: number;
  readonly length: number;
  readonly vocab: number;
}

/** Creates the parameters; each call of the result is one step and returns the loss. */
export function trainStep({
  numLayers,
  modelDim: D,
  numHeads: H,
  batch: B,
  length: T,
  vocab: V,
}: Sizes): () => tf.Scalar {
  let draws = 0;
  const weight = (...shape: number[]) => tf.variable(tf.randomNormal(shape, 0, 0.05, 'float32', ++draws));
  const constant = (value: number, n: number) => tf.variable(tf.fill([n], value));
  const table = weight(V, D);
  const layers = Array.from({ length: numLayers }, () => ({
    norm1: [constant(1, D), constant(0, D)],
    norm2: [constant(1, D), constant(0, D)],
    qkv: [weight(D, 3 * D), constant(0, 3 * D)],
    out: [weight(D, D), constant(0, D)],
    up: [weight(D, 4 * D), constant(0, 4 * D)],
    down: [weight(4 * D, D), constant(0, D)],
  }));
  const rows = B * T;
  const mask = tf.tensor2d(
    Float32Array.from({ length: T * T }, (_, i) => (i % T > Math.floor(i / T) ? -1e9 : 0)),
    [T, T],
  );
  const ids = tf.tensor1d(Int32Array.from({ length: rows }, (_, i) => (i * i * 31) % V));
  const targets = tf.oneHot(tf.tensor1d(Int32Array.from({ length: rows }, (_, i) => (i * i * 17) % V)), V);

  const linear = (x: tf.Tensor, [w, b]: tf.Tensor[]) => tf.add(tf.matMul(x, w!), b!);
  const layerNorm = (x: tf.Tensor, [gain, bias]: tf.Tensor[]) => {
    const centred = tf.sub(x, tf.mean(x, -1, true));
    const variance = tf.mean(tf.square(centred), -1, true);
    return tf.add(tf.mul(tf.mul(centred, tf.rsqrt(tf.add(variance, 1e-5))), gain!), bias!);
  };
  const heads = (x: tf.Tensor) => tf.transpose(tf.reshape(x, [B, T, H, D / H]), [0, 2, 1, 3]);
  const loss = () => {
    let x: tf.Tensor = tf.gather(table, ids);
    for (const layer of layers) {
      const [q, k, v] = tf.split(linear(layerNorm(x, layer.norm1), layer.qkv), 3, 1).map(heads) as tf.Tensor4D[];
      const scores = tf.add(tf.mul(tf.matMul(q!, k!, false, true), (D / H) ** -0.5), mask);
      const mixed = tf.reshape(tf.transpose(tf.matMul(tf.softmax(scores), v!), [0, 2, 1, 3]), [rows, D]);
      x = tf.add(x, linear(mixed, layer.out));
      x = tf.add(x, linear(tf.relu(linear(layerNorm(x, layer.norm2), layer.up)), layer.down));
    }
    const logits = tf.matMul(x, table, false, true);
    return tf.neg(tf.div(tf.sum(tf.mul(tf.logSoftmax(logits), targets)), rows)) as tf.Scalar;
  };
  return () =>
    tf.tidy(() => {
      const { value, grads } = tf.variableGrads(loss);
      for (const variable of tf.engine().registeredVariables ? Object.values(tf.engine().registeredVariables) : []) {
        const gradient = grads[variable.name];
        if (gradient) variable.assign(tf.sub(variable, tf.mul(gradient, 1e-3)));
      }
      return value;
    });
}
