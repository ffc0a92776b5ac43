/** 20 standard steps on one backend: `losses-program.ts FOLDER BACKEND` prints losses and the times of the steps. */
import { type BackendName, useBackend } from '@posenc/backend';
import { batchLoss, createAdamW } from '@posenc/training';
import * as tf from '@tensorflow/tfjs';
import { readProblem, stepModel } from '../../src/bench/problem.ts';

const [folder, backend] = process.argv.slice(2) as [string, BackendName];
const info = await useBackend(backend);
const problem = readProblem(folder);
const model = stepModel(problem.sizes);
const params = Object.fromEntries(
  problem.weights.map(({ path, shape, data }) => [path, tf.variable(tf.tensor(data, [...shape]))]),
);
const variables = Object.values(params);
const { learningRate, ...moments } = problem.adam;
const optimizer = createAdamW(params, model.params, { ...moments, weightDecay: 0, clipNorm: 1e9 });
const [losses, milliseconds] = [[] as number[], [] as number[]];
for (let step = 1; step <= 20; step++) {
  const started = performance.now();
  const loss = tf.tidy(() => {
    const { value, grads } = tf.variableGrads(() => batchLoss(model, params, problem), variables);
    optimizer.update(
      variables.map((variable) => grads[variable.name]!),
      learningRate,
      step,
    );
    return value;
  });
  losses.push((await loss.data())[0]!);
  loss.dispose();
  milliseconds.push(performance.now() - started);
}
process.stdout.write(`${JSON.stringify({ backend: info, losses, milliseconds })}\n`, () => process.exit());
