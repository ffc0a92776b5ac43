/**
 * The standard step in plain TensorFlow.js, as its own documentation has one write it: stock kernels, stock Adam, nothing of
 * posenc but the numbers it starts from. `tfjs.ts FOLDER wasm|cpu`
 *
 * The embedding is a product with one-hot rows: stock wasm has no gradient of gather.
 */
import * as tf from '@tensorflow/tfjs';
import { getThreadsCount, version_wasm } from '@tensorflow/tfjs-backend-wasm';
import { readProblem, reserveOutput, serveSteps } from 'posenc/bench';

reserveOutput();
const [folder, backend] = process.argv.slice(2) as [string, 'wasm' | 'cpu'];
tf.enableProdMode();
if (!(await tf.setBackend(backend))) throw new Error(`the stock backend ${backend} did not start`);

const { sizes, adam, normEps, weights, tokens, targets } = readProblem(folder);
const { numLayers, modelDim: D, numHeads: H, vocabSize: V, batch: B, length: T } = sizes;
const Dh = D / H;
const params = Object.fromEntries(
  weights.map(({ path, shape, data }) => [path, tf.variable(tf.tensor(data, [...shape]))]),
);
const ids = tf.oneHot(tf.tensor1d(tokens.data, 'int32'), V).toFloat() as tf.Tensor2D;
const next = tf.oneHot(tf.tensor1d(targets.data, 'int32'), V).toFloat();
const hidden = Float32Array.from({ length: T * T }, (_, i) => (i % T > Math.floor(i / T) ? -1e9 : 0));
const mask = tf.tensor2d(hidden, [T, T]);

const linear = (x: tf.Tensor, path: string) => tf.add(tf.matMul(x, params[`${path}.weight`]!), params[`${path}.bias`]!);

function norm(x: tf.Tensor, path: string): tf.Tensor {
  const { mean, variance } = tf.moments(x, -1, true);
  const unit = tf.div(tf.sub(x, mean), tf.sqrt(tf.add(variance, normEps)));
  return tf.add(tf.mul(unit, params[`${path}.gain`]!), params[`${path}.bias`]!);
}

function attention(x: tf.Tensor, path: string): tf.Tensor {
  const heads = (side: string) => tf.transpose(tf.reshape(linear(x, `${path}.${side}`), [B, T, H, Dh]), [0, 2, 1, 3]);
  const scores = tf.add(tf.mul(tf.matMul(heads('query'), heads('key'), false, true), Dh ** -0.5), mask);
  const mixed = tf.matMul(tf.softmax(scores), heads('value'));
  return linear(tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [B * T, D]), `${path}.output`);
}

function loss(): tf.Scalar {
  const table = params['embedding.tokens'] as tf.Tensor2D;
  let x: tf.Tensor = tf.matMul(ids, table);
  for (let l = 0; l < numLayers; l++) {
    const [attend, feed] = [`layers.${l}.attention`, `layers.${l}.mlp`];
    x = tf.add(x, attention(norm(x, `${attend}.norm`), attend));
    x = tf.add(x, linear(tf.relu(linear(norm(x, `${feed}.norm`), `${feed}.up`)), `${feed}.down`));
  }
  const logits = tf.matMul(norm(x, 'norm'), table, false, true);
  return tf.losses.softmaxCrossEntropy(next, logits);
}

const optimizer = tf.train.adam(adam.learningRate, adam.beta1, adam.beta2, adam.epsilon);
const version = backend === 'wasm' ? version_wasm : tf.version['tfjs-backend-cpu'];
const simd = backend === 'wasm' && (await tf.env().getAsync('WASM_HAS_SIMD_SUPPORT'));
const variant = { wasm: `stock, ${simd ? 'simd' : 'scalar'}`, cpu: 'stock, javascript' }[backend];
const threads = backend === 'wasm' ? getThreadsCount() : 1;
const parameters = weights.reduce((sum, { data }) => sum + data.length, 0);
await serveSteps({ version, variant, threads, parameters }, async () => {
  const value = optimizer.minimize(loss, true)!;
  const [number] = await value.data();
  value.dispose();
  return number!;
});
process.exit();
