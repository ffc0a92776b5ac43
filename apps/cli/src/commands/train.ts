/** `posenc train`: one training run, resumable, then evaluated like a trial of a comparison. */
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { PosencError } from '@posenc/core';
import type { Task } from '@posenc/tasks';
import { inProcess, parseRun, planTrial, type TrialResult, trialId, trialsOf } from '@posenc/training';
import { readJson } from '../config/read.ts';
import { createEnvironment } from '../environment.ts';
import { Interrupted } from '../exit.ts';
import type { Io } from '../io.ts';
import { withNamed } from '../plugins/named.ts';
import { createView } from '../progress/view.ts';
import { scoreTable } from '../report/score-table.ts';
import { toJson } from '../ui/json.ts';
import { type AddCommand, type RunOptions, takeUp, withExamples, withRun } from './common.ts';

export const addTrain: AddCommand = (program, io) => {
  const command = program
    .command('train')
    .summary('train one model')
    .description(
      'Train the shared transformer with one encoding, with checkpoints, then evaluate it at multiples of the training length.',
    )
    .argument('<run>', 'a run in JSON (posenc schema run)')
    .option('--out <folder>', 'where checkpoints, metrics and the result go; default: runs/ and the name of the run');
  withRun(command, 'go on from the newest checkpoint in the folder');
  command.action((path: string, options: RunOptions) => train(path, options, io));
  withExamples(command, io, [
    ['posenc train run.json', 'train, into runs/NAME'],
    ['posenc train run.json --resume', 'go on after Ctrl-C'],
  ]);
};

async function train(path: string, options: RunOptions, io: Io): Promise<void> {
  const suite = parseRun(await readJson(path, io), path, path === '-' ? io.cwd : dirname(resolve(io.cwd, path)));
  const folder = resolve(io.cwd, options.out ?? join('runs', suite.name));
  const before = takeUp(folder, options);
  const environment = await createEnvironment(
    before.backend,
    await withNamed(options.plugin, suite, io),
    io,
    process.env.POSENC_THREADS ? undefined : before.threads,
  );
  const task = environment.tasks.create(suite.task);
  const [spec] = trialsOf(suite, task, environment);
  const id = trialId(spec!, task, environment);
  const trial = planTrial(folder, id, spec!);
  const shown = relative(io.cwd, folder) || '.';
  if (!options.resume && existsSync(join(folder, 'trial.json')))
    throw new PosencError(`"${shown}" already holds a run: --resume goes on with it, --out FOLDER starts another`);

  const view = createView(io.stderr, [trial]);
  view.apply({ kind: 'start', trial });
  let result: TrialResult | undefined;
  try {
    result = await inProcess(environment)(trial, {
      signal: io.interrupted(),
      allowDrift: options.allowDrift,
      onProgress: (progress) => view.apply({ kind: 'progress', trial, progress }),
      onNotice: (message) => view.apply({ kind: 'notice', trial, message }),
    });
    view.apply(result ? { kind: 'finish', trial, result } : { kind: 'stop', trial });
  } finally {
    view.close();
  }
  if (!result) throw new Interrupted('stopped, with a checkpoint. Go on with the same command and --resume');
  io.stdout.write(options.json ? toJson(result) : `${summary(result, task)}\nRun: ${shown}\n`);
}

function summary(result: TrialResult, task: Task): string {
  if (result.status === 'diverged')
    return `diverged at step ${result.steps}: the loss is no number any more. A lower learningRate helps`;
  return scoreTable(result.evaluations, task);
}
