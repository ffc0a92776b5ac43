/** The training loop. All of its state is (step, parameters, moments): every random stream is named by its step. */

import type { HostTensor } from '@posenc/checkpoints';
import { createParams, type Params, PosencError, stream, type Transformer, type Variables } from '@posenc/core';
import type { Task } from '@posenc/tasks';
import type { Tensor } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { type AdamW, createAdamW } from './adamw.ts';
import type { TrainingConfig } from './config.ts';
import { batchLoss } from './loss.ts';
import { placed } from './placed.ts';
import { learningRateAt } from './schedule.ts';

/** A model in training: its variables, its optimiser, and how far it got. `dispose` frees the tensors. */
export interface Session {
  readonly model: Transformer;
  readonly params: Variables;
  readonly optimizer: AdamW;
  /** Steps done. */
  step: number;
  dispose(): void;
}

/** Fresh parameters and moments for a model. */
export function startSession(model: Transformer, config: TrainingConfig, seed: number): Session {
  const params = createParams(model.params, seed);
  const optimizer = createAdamW(params, model.params, config);
  const dispose = () => {
    tf.dispose(Object.values(params));
    optimizer.dispose();
  };
  return { model, params, optimizer, step: 0, dispose };
}

/** What one step measured: a line of metrics.jsonl. */
export interface StepMetrics {
  readonly step: number;
  /** Mean over the batch, nats per token, before the update. */
  readonly loss: number;
  readonly learningRate: number;
  /** Before clipping. */
  readonly gradNorm: number;
  readonly seconds: number;
}

/** One optimiser step. The same (session state, task, config, seed) gives the same bits. */
export async function trainStep(
  session: Session,
  task: Task,
  config: TrainingConfig,
  seed: number,
): Promise<StepMetrics> {
  const started = performance.now();
  const step = session.step + 1;
  const learningRate = learningRateAt(step, config);
  const [loss, norm] = tf.tidy(() => {
    const drawn = task.trainBatch(stream(seed, `batch/${step}`), config.batchSize, config.length);
    const batch = placed(drawn, config, stream(seed, `positions/${step}`));
    const random = session.model.config.dropout > 0 ? stream(seed, `dropout/${step}`) : undefined;
    const variables = Object.values(session.params);
    const { value, grads } = tf.variableGrads(() => batchLoss(session.model, session.params, batch, random), variables);
    const gradients = variables.map((variable) => grads[variable.name]!);
    return [value, session.optimizer.update(gradients, learningRate, step)] as [Tensor, Tensor];
  });
  const [lossValue, gradNorm] = await Promise.all([loss.data(), norm.data()]);
  tf.dispose([loss, norm]);
  session.step = step;
  return {
    step,
    loss: lossValue[0]!,
    learningRate,
    gradNorm: gradNorm[0]!,
    seconds: (performance.now() - started) / 1000,
  };
}

/** Everything a checkpoint must hold for training to go on with the same bits. */
export async function sessionTensors(session: Session): Promise<[string, HostTensor][]> {
  const { m, v } = session.optimizer.moments;
  const named: [string, Tensor][] = [
    ...Object.entries(session.params).map(([path, tensor]): [string, Tensor] => [`params.${path}`, tensor]),
    ['adam.m', m],
    ['adam.v', v],
  ];
  return Promise.all(
    named.map(async ([name, tensor]): Promise<[string, HostTensor]> => {
      const data = (await tensor.data()) as Float32Array;
      return [name, { dtype: 'F32', shape: tensor.shape, data }];
    }),
  );
}

/** Puts a checkpoint's tensors back. Throws PosencError when they are not this model's. */
export function restoreSession(session: Session, step: number, tensors: ReadonlyMap<string, HostTensor>): void {
  const { m, v } = session.optimizer.moments;
  assignAll({ ...prefixed(session.params, 'params.'), 'adam.m': m, 'adam.v': v }, tensors);
  session.step = step;
}

/** Loads only the weights (for evaluation and generation) into fresh variables. */
export function restoreParams(model: Transformer, tensors: ReadonlyMap<string, HostTensor>): Params {
  const params = createParams(model.params, 0);
  assignAll(prefixed(params, 'params.'), tensors);
  return params;
}

const prefixed = <T>(record: Readonly<Record<string, T>>, prefix: string): Record<string, T> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [prefix + key, value]));

function assignAll(variables: Readonly<Record<string, tf.Variable>>, tensors: ReadonlyMap<string, HostTensor>): void {
  for (const [name, variable] of Object.entries(variables)) {
    const saved = tensors.get(name);
    if (!saved) throw new PosencError(`the checkpoint has no tensor "${name}": it belongs to another model`);
    if (saved.dtype !== 'F32' || saved.shape.join() !== variable.shape.join())
      throw new PosencError(
        `the checkpoint's "${name}" is ${saved.dtype} [${saved.shape.join(', ')}], this model needs F32 [${variable.shape.join(', ')}]: it belongs to another model`,
      );
    tf.tidy(() => variable.assign(tf.tensor(saved.data as Float32Array, variable.shape)));
  }
}
