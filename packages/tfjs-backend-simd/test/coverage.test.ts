/** No kernel of a training step runs in JavaScript, whatever the encoding and the model. */
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createParams,
  createTransformer,
  crossEntropy,
  dimsOf,
  fromLengths,
  type Input,
  type PositionalEncoding,
  resolveModel,
  stream,
} from '../../core/src/index.ts';
import { useSimd } from '../src/index.ts';

/** They only hand on the same numbers. */
const free = new Set(['Reshape', 'Identity', 'ExpandDims']);
const inJavaScript = new Map<string, number>();
const restore: (() => void)[] = [];

beforeAll(async () => {
  await useSimd();
  // A kernel that simd has from cpu, and one of simd that falls back, calls that of the cpu backend.
  for (const kernel of tf.getKernelsForBackend('cpu')) {
    const { kernelFunc, kernelName } = kernel;
    kernel.kernelFunc = (args) => {
      if (!free.has(kernelName)) inJavaScript.set(kernelName, (inJavaScript.get(kernelName) ?? 0) + 1);
      return kernelFunc(args);
    };
    restore.push(() => {
      kernel.kernelFunc = kernelFunc;
    });
  }
});
afterAll(() => {
  for (const undo of restore) undo();
});

const folder = fileURLToPath(new URL('../../encodings', import.meta.url));
const encodings = readdirSync(folder).filter((name) => existsSync(`${folder}/${name}/src/index.ts`));

async function pluginOf(name: string): Promise<PositionalEncoding> {
  const exported = Object.values((await import(`${folder}/${name}/src/index.ts`)) as Record<string, unknown>);
  return exported.find((value) => (value as PositionalEncoding | undefined)?.contract === 1) as PositionalEncoding;
}

const [B, T] = [2, 24];
const grid = { rows: B, cols: T, data: Int32Array.from({ length: B * T }, (_, i) => (i * i * 31 + 7 * i) % 64) };

function step(plugin: PositionalEncoding, changes: object, input: Partial<Input> = {}): void {
  const model = resolveModel({ vocabSize: 64, modelDim: 32, numHeads: 4, numLayers: 2, ...changes });
  const transformer = createTransformer(model, plugin.create(plugin.config.parse({}), dimsOf(model)));
  tf.tidy(() => {
    const params = createParams(transformer.params, 1);
    const random = model.dropout ? stream(1, 'dropout') : undefined;
    const loss = () => {
      const { logits } = transformer.forward(params, { tokens: grid, ...input }, { random });
      return tf.mean(crossEntropy(logits.reshape([-1, 64]) as tf.Tensor2D, grid.data)) as tf.Scalar;
    };
    inJavaScript.clear();
    tf.variableGrads(loss, Object.values(params));
    for (const variable of Object.values(params)) variable.dispose();
  });
}

test('what runs in JavaScript is noticed: a copied kernel, and one that falls back', () => {
  inJavaScript.clear();
  tf.tidy(() => [tf.cos(tf.ones([1])), tf.abs(tf.ones([1], 'int32'))]);
  expect([...inJavaScript.keys()]).toEqual(['Cos', 'Abs']);
});

test.each(encodings)('%s', async (name) => {
  const plugin = await pluginOf(name);
  step(plugin, {});
  expect([...inJavaScript]).toEqual([]);
});

const models: Record<string, object> = {
  dropout: { dropout: 0.1 },
  'gated, RMS norm, grouped queries': { activation: 'swiglu', norm: 'rmsnorm', numKvHeads: 2, qkNorm: true },
  'softcap, norms after': { activation: 'geglu-tanh', normPlacement: 'post', scoreSoftcap: 10, logitSoftcap: 10 },
  windows: { slidingWindow: [16, null], normPlacement: 'both', zeroCenteredGain: true, embeddingNorm: true },
  encoder: { causal: false, numTokenTypes: 2, headTransform: 'gelu', embeddingDim: 16, activation: 'gelu' },
};
test.each(Object.entries(models))('%s', async (_, changes) => {
  step(await pluginOf('t5'), changes);
  expect([...inJavaScript]).toEqual([]);
});

test('packed rows', async () => {
  for (const name of ['t5', 'rope']) {
    step(await pluginOf(name), {}, fromLengths(Array.from({ length: B }, (_, b) => [10 + b, 14 - b])));
    expect([...inJavaScript]).toEqual([]);
  }
});
