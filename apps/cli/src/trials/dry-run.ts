/** What a comparison would do: its trials, their parameters, and how long they would take on this machine. */
import { countParams, type Transformer } from '@posenc/core';
import type { Task } from '@posenc/tasks';
import {
  describeRuntime,
  type Environment,
  evaluationTokens,
  type Plan,
  type PlannedTrial,
  type Suite,
  startSession,
  trainStep,
  trialModel,
} from '@posenc/training';
import { duration } from '../progress/duration.ts';
import { grouped } from '../ui/numbers.ts';
import { columns } from '../ui/style.ts';

interface Estimate {
  readonly json: object;
  readonly text: string;
}

/** Measures a few steps of every distinct entry that is left to do; nothing is written. */
export async function dryRun(
  suite: Suite,
  plan: Plan,
  task: Task,
  environment: Environment,
  workers: number,
): Promise<Estimate> {
  const perName = new Map<string, number>();
  const trials = [];
  for (const trial of plan.trials) {
    const { spec, result } = trial;
    const model = trialModel(spec, task, environment);
    if (!result && !perName.has(spec.name)) perName.set(spec.name, await stepSeconds(trial, task, environment));
    const seconds = result ? 0 : perName.get(spec.name)! * (spec.training.steps + evaluationSteps(model, trial, task));
    const parameters = { total: countParams(model.params), encoding: countParams(model.encoding.params) };
    const tokens = spec.training.steps * spec.training.batchSize * spec.training.length;
    trials.push({
      id: trial.id,
      name: spec.name,
      seed: spec.seed,
      parameters,
      tokens,
      finished: result !== undefined,
      seconds,
    });
  }
  const atATime = Math.min(workers, trials.filter((t) => !t.finished).length) || 1;
  const seconds = trials.reduce((sum, t) => sum + t.seconds, 0) / atATime;
  const rows = trials.map((t) => [
    t.name,
    String(t.seed),
    grouped(t.parameters.total),
    grouped(t.parameters.encoding),
    grouped(t.tokens),
    t.finished ? 'finished' : duration(t.seconds),
    t.id,
  ]);
  const table = columns(
    [['encoding', 'seed', 'parameters', 'its own', 'tokens', 'about', 'trial'], ...rows],
    [1, 2, 3, 4],
  );
  const backend = describeRuntime(environment.runtime);
  const summary = `${suite.name}: ${trials.length} trials, ${trials.filter((t) => t.finished).length} finished, ${workers} at a time; about ${duration(seconds)} on this machine (${backend})`;
  return {
    json: { suite: suite.name, backend, workers, trials, seconds },
    text: `${table.join('\n')}\n\n${summary}\n`,
  };
}

/** The faster of two steps after one to warm up. */
async function stepSeconds({ spec }: PlannedTrial, task: Task, environment: Environment): Promise<number> {
  const session = startSession(trialModel(spec, task, environment), spec.training, spec.seed);
  const seconds = [];
  for (let i = 0; i < 3; i++) seconds.push((await trainStep(session, task, spec.training, spec.seed)).seconds);
  session.dispose();
  return Math.min(...seconds.slice(1));
}

/** Evaluation in units of a training step: a forward pass is a third of one, for every window, length and override. */
function evaluationSteps(model: Transformer, { spec }: PlannedTrial, task: Task): number {
  const { training, evaluation, overrides } = spec;
  const tokens = evaluationTokens(model, task, training.length, evaluation) * (1 + overrides.length);
  return tokens / (training.batchSize * training.length) / 3;
}
