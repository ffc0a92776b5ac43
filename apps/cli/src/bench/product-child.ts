/** A matrix product on one of posenc's backends: `product-child.ts SIZE BACKEND`. */
import { type BackendName, useBackend } from '@posenc/backend';
import * as tf from '@tensorflow/tfjs';
import { operand } from './products.ts';
import { reserveOutput, secondsSince, serveTurns } from './serve.ts';

reserveOutput();
const size = Number(process.argv[2]);
tf.enableProdMode();
const { version, variant, threads } = await useBackend(process.argv[3] as BackendName);
const [a, b] = ([7, 11] as const).map((step) => tf.tensor2d(operand(size, step), [size, size])) as [
  tf.Tensor2D,
  tf.Tensor2D,
];
await serveTurns({ version, variant, threads }, async () => {
  const started = performance.now();
  const product = tf.matMul(a, b);
  const seconds = secondsSince(started);
  const mean = tf.tidy(() => tf.mean(tf.square(product.slice([0, 0], [1, size]))));
  const [value] = await mean.data();
  tf.dispose([product, mean]);
  return { value: value!, seconds };
});
process.exit();
