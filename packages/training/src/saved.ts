/** Trained trials, read back from their folders. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileError } from '@posenc/checkpoints';
import { type Params, PosencError, parseConfig, type Transformer, z } from '@posenc/core';
import type { Task } from '@posenc/tasks';
import { evaluationSchema, trainingSchema } from './config.ts';
import { type Environment, type TrialSpec, trialModel } from './spec.ts';
import { restoreParams } from './train.ts';
import { newestCheckpoint } from './trial.ts';

/** A trained trial, ready to be evaluated or to generate. */
export interface SavedTrial {
  readonly spec: TrialSpec;
  readonly task: Task;
  readonly model: Transformer;
  /** The caller disposes them. */
  readonly params: Params;
  /** Of the checkpoint that was loaded. */
  readonly step: number;
  /** Newer checkpoints that were passed over because they are damaged. */
  readonly notices: readonly string[];
}

const specSchema = z.object({
  id: z.string(),
  name: z.string(),
  seed: z.int(),
  encoding: z.looseObject({ type: z.string() }),
  model: z.looseObject({}),
  task: z.looseObject({ type: z.string() }),
  training: trainingSchema,
  evaluation: evaluationSchema,
  overrides: z.array(z.object({ name: z.string(), encoding: z.looseObject({}) })),
});

/** The newest whole checkpoint of a trial's folder, as a model. Throws PosencError when there is none. */
export function loadTrial(folder: string, environment: Environment): SavedTrial {
  const { id, ...spec } = readSpec(folder, environment);
  const task = environment.tasks.create(spec.task);
  const model = trialModel(spec, task, environment);
  const latest = newestCheckpoint(folder, id);
  if (!latest) throw new PosencError(`"${folder}" holds no checkpoint yet: its training has only begun`);
  const { step, tensors } = latest.checkpoint;
  return { spec, task, model, params: restoreParams(model, tensors), step, notices: latest.skipped };
}

function readSpec(folder: string, environment: Environment): TrialSpec & { readonly id: string } {
  const path = join(folder, 'trial.json');
  if (!existsSync(path))
    throw new PosencError(`"${folder}" is no trained run: it has no trial.json${trialsIn(folder)}`);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw fileError(error, 'read', path);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new PosencError(`"${path}" is not JSON: it was damaged`);
  }
  const spec = parseConfig(specSchema, value, path);
  return { ...spec, encoding: environment.encodings.parse(spec.encoding, path) };
}

/** A comparison's folder holds one folder per trial: name them. */
function trialsIn(folder: string): string {
  const trials = join(folder, 'trials');
  if (!existsSync(trials)) return '. Train one with "posenc train" or "posenc compare"';
  return `, but trials; choose one of\n${readdirSync(trials)
    .map((name) => `  ${join(trials, name)}`)
    .join('\n')}`;
}
