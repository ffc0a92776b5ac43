/** The standard step on one of posenc's backends, in a process of its own: `step-child.ts FOLDER BACKEND`. */
import { type BackendName, useBackend } from '@posenc/backend';
import { countParams } from '@posenc/core';
import { batchLoss, createAdamW } from '@posenc/training';
import * as tf from '@tensorflow/tfjs';
import { readProblem, stepModel } from './problem.ts';
import { reserveOutput, serveSteps } from './serve.ts';

reserveOutput();
const [folder, backend] = process.argv.slice(2) as [string, BackendName];
tf.enableProdMode();
const info = await useBackend(backend);
const problem = readProblem(folder);
const model = stepModel(problem.sizes);
const params = Object.fromEntries(
  problem.weights.map(({ path, shape, data }) => [path, tf.variable(tf.tensor(data, [...shape]))]),
);
const variables = Object.values(params);
const { learningRate, ...moments } = problem.adam;
const optimizer = createAdamW(params, model.params, { ...moments, weightDecay: 0, clipNorm: 1e9 });

let steps = 0;
async function step(): Promise<number> {
  steps++;
  const loss = tf.tidy(() => {
    const { value, grads } = tf.variableGrads(() => batchLoss(model, params, problem), variables);
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
}

await serveSteps(
  { version: info.version, variant: info.variant, threads: info.threads, parameters: countParams(model.params) },
  step,
);
process.exit();
