/** One layer's attention, forward and backward, on one of posenc's backends: `attention-child.ts SIZES BACKEND`. */
import { type BackendName, useBackend } from '@posenc/backend';
import { attention, createMask, stream, uniform } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import type { AttentionSizes } from './attention.ts';
import { bytesAtPeak, countsBytes } from './memory.ts';
import { reserveOutput, secondsSince, serveTurns, type Taken } from './serve.ts';

reserveOutput();
const { numHeads, headDim, tokens } = JSON.parse(process.argv[2]!) as AttentionSizes;
tf.enableProdMode();
const { version, variant, threads } = await useBackend(process.argv[3] as BackendName);

/** Queries, keys, values, and the gradient of the result: the same numbers on every backend. */
function draw(length: number, batch: number): tf.Tensor4D[] {
  const shape: [number, number, number, number] = [batch, numHeads, length, headDim];
  const count = batch * numHeads * length * headDim;
  return ['q', 'k', 'v', 'dy'].map((name) => {
    const random = stream(1, name);
    return tf.tensor4d(
      Float32Array.from({ length: count }, () => 2 * uniform(random) - 1),
      shape,
    );
  });
}

function gradients([q, k, v, dy]: readonly tf.Tensor4D[]): tf.Tensor[] {
  const length = q!.shape[2];
  const mask = createMask({ causal: true, numQueries: length, numKeys: length });
  const attend = (...inputs: tf.Tensor[]) => {
    const [a, b, c] = inputs as tf.Tensor4D[];
    return attention(a!, b!, c!, {}, { mask, scoreScale: headDim ** -0.5 });
  };
  return tf.grads(attend)([q!, k!, v!], dy);
}

/** Timed until a number of a gradient is there; the value that must agree is the gradients' mean square. */
async function take(inputs: readonly tf.Tensor4D[]): Promise<Taken> {
  const started = performance.now();
  const all = tf.tidy(() => gradients(inputs));
  const first = tf.tidy(() => all[0]!.flatten().slice(0, 1));
  await first.data();
  const seconds = secondsSince(started);
  const mean = tf.tidy(() => tf.addN(all.map((gradient) => tf.mean(tf.square(gradient)))));
  const [value] = await mean.data();
  tf.dispose([first, mean, ...all]);
  return { value: value!, seconds };
}

let current: { readonly length: number; readonly inputs: readonly tf.Tensor4D[] } | undefined;

await serveTurns({ version, variant, threads, countsBytes: countsBytes() }, async (request) => {
  const length = request.length!;
  if (request.bytes) {
    const one = draw(length, 1);
    const value = bytesAtPeak(() => tf.dispose(tf.tidy(() => gradients(one))))!;
    tf.dispose(one);
    return { value, seconds: 0 };
  }
  if (current?.length !== length) {
    if (current) tf.dispose([...current.inputs]);
    current = { length, inputs: draw(length, tokens / length) };
  }
  return take(current.inputs);
});
process.exit();
