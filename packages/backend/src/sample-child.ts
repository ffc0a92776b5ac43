/** The process of sample.ts: one layer of the standard step, on the backend named on the command line. */
import {
  below,
  createParams,
  createTransformer,
  crossEntropy,
  type Encoding,
  resolveModel,
  stream,
} from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import type { BackendInfo } from './names.ts';
import { useBackend } from './use-backend.ts';

const [batch, length, vocabSize] = [8, 128, 64];
const config = { modelDim: 128, numLayers: 1, numHeads: 4, mlpDim: 512, vocabSize };

const nothing: Encoding = {
  traits: {
    maxPosition: Number.POSITIVE_INFINITY,
    shiftInvariant: true,
    requiresCausal: false,
    readsPositions: false,
    readsSeqLen: false,
  },
  params: {},
  hooks: () => () => ({}),
};

async function train(): Promise<{ stepMs: number; losses: number[] }> {
  const model = createTransformer(resolveModel(config, 'sample'), nothing);
  const params = createParams(model.params, 1);
  const variables = Object.values(params);
  const random = stream(1, 'sample');
  const draw = () => Int32Array.from({ length: batch * length }, () => below(random, vocabSize));
  const [tokens, targets] = [draw(), draw()];
  const input = { tokens: { rows: batch, cols: length, data: tokens } };
  const loss = () => {
    const { logits } = model.forward(params, input);
    return tf.mean(crossEntropy(logits.reshape([-1, vocabSize]) as tf.Tensor2D, targets)) as tf.Scalar;
  };
  const step = async () => {
    const value = tf.tidy(() => {
      const { value, grads } = tf.variableGrads(loss, variables);
      for (const variable of variables) variable.assign(tf.sub(variable, tf.mul(grads[variable.name]!, 0.1)));
      return value;
    });
    const [host] = await value.data();
    value.dispose();
    return host!;
  };
  const [losses, times] = [[] as number[], [] as number[]];
  const started = performance.now();
  while (losses.length < 4 || (losses.length < 12 && performance.now() - started < 2000)) {
    const before = performance.now();
    losses.push(await step());
    times.push(performance.now() - before);
  }
  return { stepMs: Math.min(...times.slice(1)), losses: losses.slice(0, 3) };
}

async function answer(): Promise<object> {
  try {
    const [name, threads] = process.argv.slice(2) as [BackendInfo['name'], string | undefined];
    const backend = await useBackend(name, threads ? { threads: Number(threads) } : {});
    return { backend, ...(await train()) };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

process.send?.(await answer(), () => process.exit());
