/** One training step on the current backend, as the benchmarks take it. */
import { createParams, disposeParams, type Transformer, type Variables } from '@posenc/core';
import type { Batch } from '@posenc/tasks';
import { batchLoss, createAdamW } from '@posenc/training';
import * as tf from '@tensorflow/tfjs';
import { type LoadedProblem, type StepProblem, stepModel } from './problem.ts';

export interface Step {
  /** Forward, backward, Adam, reading the loss, which it returns. */
  take(): Promise<number>;
  dispose(): void;
}

/** Trains a model on one batch again and again. Without `params`, they are drawn. */
export function createStep(
  model: Transformer,
  batch: Pick<Batch, 'tokens' | 'targets'>,
  adam: StepProblem['adam'],
  params: Variables = createParams(model.params, 1),
): Step {
  const variables = Object.values(params);
  const { learningRate, ...moments } = adam;
  const optimizer = createAdamW(params, model.params, { ...moments, weightDecay: 0, clipNorm: 1e9 });
  let steps = 0;
  return {
    async take() {
      steps++;
      const loss = tf.tidy(() => {
        const { value, grads } = tf.variableGrads(() => batchLoss(model, params, batch), variables);
        optimizer.update(
          variables.map((variable) => grads[variable.name]!),
          learningRate,
          steps,
        );
        return value;
      });
      const [value] = await loss.data();
      loss.dispose();
      return value!;
    },
    dispose() {
      optimizer.dispose();
      disposeParams(params);
    },
  };
}

/** The standard step on the current backend, from the weights of its problem. */
export function standardStep({ sizes, adam, weights, tokens, targets }: LoadedProblem) {
  const model = stepModel(sizes);
  const params = Object.fromEntries(
    weights.map(({ path, shape, data }) => [path, tf.variable(tf.tensor(data, [...shape]))]),
  );
  return { model, ...createStep(model, { tokens, targets }, adam, params) };
}
