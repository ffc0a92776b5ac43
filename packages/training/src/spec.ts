/** What defines a trial, and the name and the model that follow from it. */
import { createHash } from 'node:crypto';
import {
  createTransformer,
  dimsOf,
  type EncodingConfig,
  PosencError,
  type Registry,
  resolveModel,
  type Transformer,
} from '@posenc/core';
import type { Task, TaskRegistry } from '@posenc/tasks';
import type { EvaluationConfig, TrainingConfig } from './config.ts';
import type { Runtime } from './runtime.ts';

/** Everything that defines a trial, resolved: defaults filled in, nothing implied. */
export interface TrialSpec {
  readonly name: string;
  readonly seed: number;
  /** As parsed by the registry. */
  readonly encoding: EncodingConfig;
  /** A model config without vocabSize, which the task decides. */
  readonly model: object;
  /** A task config; a file in it is an absolute path, and only its content's digest is part of the identity. */
  readonly task: object;
  readonly training: TrainingConfig;
  readonly evaluation: EvaluationConfig;
  /** Applied to the trained weights at evaluation. "auto" anywhere inside stands for k at k·L. */
  readonly overrides: readonly { readonly name: string; readonly encoding: object }[];
}

/** Where a trial runs: the plug-ins it may use, and what else decides its bits. */
export interface Environment {
  readonly encodings: Registry;
  readonly tasks: TaskRegistry;
  readonly runtime: Runtime;
  /** Package versions by name. */
  readonly versions: Readonly<Record<string, string>>;
}

/**
 * The trial's name among all: the hash of its spec, its data and the versions of what computes it. Where it is computed is
 * no part of the name, but recorded beside it (runtime.ts).
 */
export function trialId(spec: TrialSpec, task: Task, environment: Environment): string {
  const { file: _, ...taskConfig } = spec.task as { file?: string };
  const identity = {
    ...spec,
    task: taskConfig,
    data: task.digest,
    versions: environment.versions,
  };
  return createHash('sha256').update(canonical(identity)).digest('hex').slice(0, 12);
}

/** JSON with sorted keys: equal values, equal text. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, v: unknown) =>
    v && typeof v === 'object' && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  );
}

/** The model of a trial. Throws PosencError when model and encoding do not fit. */
export function trialModel(
  spec: TrialSpec,
  task: Task,
  environment: Environment,
  encoding: EncodingConfig = spec.encoding,
): Transformer {
  const model = resolveModel({ ...spec.model, vocabSize: task.tokenizer.vocabulary.length }, `model of "${spec.name}"`);
  return createTransformer(model, environment.encodings.create(encoding, dimsOf(model)));
}

/** The trained weights under another encoding config: it must want the same parameters. */
export function overridden(
  spec: TrialSpec,
  task: Task,
  environment: Environment,
  name: string,
  override: object,
  multiple: number,
): Transformer {
  const config = environment.encodings.parse(
    substituteAuto(override, multiple),
    `evaluate "${name}" of "${spec.name}"`,
  );
  const [trained, model] = [trialModel(spec, task, environment), trialModel(spec, task, environment, config)];
  const shapes = (t: Transformer) =>
    canonical(Object.fromEntries(Object.entries(t.params).map(([path, p]) => [path, p.shape])));
  if (shapes(trained) !== shapes(model))
    throw new PosencError(
      `evaluate "${name}" of "${spec.name}": this encoding has other parameters than the trained one, so the trained weights do not fit it`,
    );
  return model;
}

/** A deep copy with every "auto" replaced by `factor`. */
export function substituteAuto(value: unknown, factor: number): unknown {
  return JSON.parse(JSON.stringify(value), (_, v: unknown) => (v === 'auto' ? factor : v));
}
