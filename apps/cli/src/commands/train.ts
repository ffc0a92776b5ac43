/** `posenc train`: one training run, resumable, then evaluated like a trial of a comparison. */
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { BackendName } from '@posenc/backend';
import { PosencError } from '@posenc/core';
import {
  inProcess,
  type PlannedTrial,
  parseRun,
  readResult,
  type TrialResult,
  trialId,
  trialsOf,
} from '@posenc/training';
import { readJson } from '../config/read.ts';
import { createEnvironment } from '../environment.ts';
import { Interrupted } from '../exit.ts';
import type { Io } from '../io.ts';
import { withNamed } from '../plugins/named.ts';
import { createView } from '../progress/view.ts';
import { toJson } from '../ui/json.ts';
import { columns } from '../ui/style.ts';
import { type AddCommand, withBackend, withExamples, withJson, withPlugins } from './common.ts';

interface Options {
  readonly out?: string;
  readonly resume?: true;
  readonly backend: BackendName;
  readonly plugin: string[];
  readonly json?: true;
}

export const addTrain: AddCommand = (program, io) => {
  const command = program
    .command('train')
    .summary('train one model')
    .description(
      'Train the shared transformer with one encoding, with checkpoints, then evaluate it at multiples of the training length.',
    )
    .argument('<run>', 'a run in JSON (posenc schema run)')
    .option('--out <folder>', 'where checkpoints, metrics and the result go; default: runs/ and the name of the run')
    .option('--resume', 'go on from the newest checkpoint in the folder');
  withBackend(withPlugins(withJson(command))).action((path: string, options: Options) => train(path, options, io));
  withExamples(command, io, [
    ['posenc train run.json', 'train, into runs/NAME'],
    ['posenc train run.json --resume', 'go on after Ctrl-C'],
  ]);
};

async function train(path: string, options: Options, io: Io): Promise<void> {
  const suite = parseRun(await readJson(path, io), path, path === '-' ? io.cwd : dirname(resolve(io.cwd, path)));
  const environment = await createEnvironment(options.backend, await withNamed(options.plugin, suite, io), io);
  const task = environment.tasks.create(suite.task);
  const [spec] = trialsOf(suite, task, environment);
  const folder = resolve(io.cwd, options.out ?? join('runs', suite.name));
  const id = trialId(spec!, task, environment);
  const trial: PlannedTrial = { id, folder, spec: spec!, result: readResult(folder, id) };
  const shown = relative(io.cwd, folder) || '.';
  if (!options.resume && existsSync(join(folder, 'trial.json')))
    throw new PosencError(`"${shown}" already holds a run: --resume goes on with it, --out FOLDER starts another`);

  const view = createView(io.stderr, [trial]);
  view.apply({ kind: 'start', trial });
  let result: TrialResult | undefined;
  try {
    result = await inProcess(environment)(trial, {
      signal: io.interrupted(),
      onProgress: (progress) => view.apply({ kind: 'progress', trial, progress }),
      onNotice: (message) => view.apply({ kind: 'notice', trial, message }),
    });
    view.apply(result ? { kind: 'finish', trial, result } : { kind: 'stop', trial });
  } finally {
    view.close();
  }
  if (!result) throw new Interrupted('stopped, with a checkpoint. Go on with the same command and --resume');
  io.stdout.write(options.json ? toJson(result) : `${summary(result)}\nRun: ${shown}\n`);
}

function summary(result: TrialResult): string {
  if (result.status === 'diverged')
    return `diverged at step ${result.steps}: the loss is no number any more. A lower learningRate helps`;
  return scoreTable(result.evaluations.map(({ name, lengths }) => ({ name, lengths })));
}

interface Scored {
  readonly name: string;
  readonly lengths: readonly {
    readonly multiple: number;
    readonly length: number;
    readonly score: { readonly loss: number; readonly accuracy: number } | null;
  }[];
}

/** Loss in nats per token, and accuracy, by context length. */
export function scoreTable(rows: readonly Scored[]): string {
  const head = ['', ...(rows[0]?.lengths ?? []).map(({ multiple, length }) => `${multiple}× (${length})`)];
  const body = rows.map(({ name, lengths }) => [
    name,
    ...lengths.map(({ score }) =>
      score ? `${score.loss.toFixed(3)} (${(100 * score.accuracy).toFixed(1)} %)` : 'undefined',
    ),
  ]);
  return [...columns([head, ...body]), 'Nats per token over the same targets at every length (accuracy).'].join('\n');
}
