/** Training steps with encodings and with none, in turns in one process: `training-child.ts SETTING` */
import { useBackend } from '@posenc/backend';
import { createTransformer, dimsOf, type EncodingConfig, type Grid, resolveModel } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { loadRegistry } from '../config/encoding.ts';
import type { AloneReady } from './alone.ts';
import type { TrainingBench } from './document.ts';
import { standardAdam } from './problem.ts';
import { answer, reserveOutput, serve } from './serve.ts';
import { ratios, summarize } from './stats.ts';
import { createStep } from './step.ts';
import type { TrainingSetting } from './training.ts';
import { time } from './work.ts';

reserveOutput();
const { sizes, tokens, rounds, candidates, cwd, backend } = JSON.parse(process.argv[2]!) as TrainingSetting;
tf.enableProdMode();
const { name, version, variant, threads, description } = await useBackend(backend);
const { registry } = await loadRegistry([...new Set(candidates.flatMap(({ plugins }) => plugins))], { cwd });
const model = resolveModel(sizes);
const withEncoding = (config: EncodingConfig) => createTransformer(model, registry.create(config, dimsOf(model)));

function batchOf(length: number) {
  const grid = (factor: number): Grid => {
    const data = Int32Array.from({ length: tokens }, (_, i) => (i * i * factor + 7 * i) % sizes.vocabSize);
    return { rows: tokens / length, cols: length, data };
  };
  return { tokens: grid(31), targets: grid(17) };
}

answer({ backend: { name, version, variant, threads, description } } satisfies AloneReady);
await serve(async ({ length }: { length: number }): Promise<TrainingBench['cells'][number]> => {
  const batch = batchOf(length);
  const configs = [registry.parse({ type: 'nope' }), ...candidates.map(({ config }) => config)];
  const steps = configs.map((config) => createStep(withEncoding(config), batch, standardAdam));
  for (const { take } of steps) await time(take, 2);
  const seconds = steps.map((): number[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [i, { take }] of steps.entries()) seconds[i]!.push(await time(take, 1));
  for (const { dispose } of steps) dispose();
  const [nope, ...others] = seconds as [number[], ...number[][]];
  const rows = others.map((times, i) => ({
    name: candidates[i]!.name,
    seconds: summarize(times),
    ratio: ratios(times, nope),
  }));
  return { length, nope: summarize(nope), rows };
});
process.exit();
