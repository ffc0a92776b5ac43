/** `posenc eval`: a trained run at other lengths, or under another config of its encoding. */
import { resolve } from 'node:path';
import type { BackendName } from '@posenc/backend';
import { disposeParams, PosencError } from '@posenc/core';
import { describeRuntime, evaluateAt, loadTrial, overridden } from '@posenc/training';
import { InvalidArgumentError } from 'commander';
import { parseJson } from '../config/json.ts';
import { createEnvironment } from '../environment.ts';
import type { Io } from '../io.ts';
import { trialDocument, withNamed } from '../plugins/named.ts';
import { scoreTable } from '../report/score-table.ts';
import { toJson } from '../ui/json.ts';
import { type AddCommand, wholeNumber, withBackend, withExamples, withJson, withPlugins } from './common.ts';

interface Options {
  readonly multiples?: number[];
  readonly encoding?: string;
  readonly windows?: number;
  readonly backend: BackendName;
  readonly plugin: string[];
  readonly json?: true;
}

export const addEval: AddCommand = (program, io) => {
  const command = program
    .command('eval')
    .summary('evaluate a trained run at other lengths or under another config')
    .description(
      'Evaluate a trained run at multiples of its training length; --encoding applies another config to the trained weights, such as a RoPE scaling.',
    )
    .argument('<run>', 'folder of a run: of posenc train, or one of the trials of posenc compare')
    .option(
      '--multiples <list>',
      'lengths as multiples of the training length, such as 1,2,16; default: those of the run',
      multiplesOf,
    )
    .option(
      '--encoding <config>',
      'another config for the trained weights, a type or JSON; "auto" in it stands for k at k times the training length',
    )
    .option('--windows <n>', 'evaluation windows; default: those of the run', wholeNumber(1, 1_000_000));
  withBackend(withPlugins(withJson(command))).action((path: string, options: Options) => evaluate(path, options, io));
  withExamples(command, io, [
    ['posenc eval runs/run', 'as its training did'],
    [
      `posenc eval runs/run --multiples 1,3 --encoding '{"type":"rope","scaling":{"type":"linear","factor":"auto"}}'`,
      'with position interpolation',
    ],
  ]);
};

async function evaluate(path: string, options: Options, io: Io): Promise<void> {
  const folder = resolve(io.cwd, path);
  const override = options.encoding === undefined ? undefined : readOverride(options.encoding);
  const plugins = await withNamed(options.plugin, [trialDocument(folder), { encoding: override }], io);
  const environment = await createEnvironment(options.backend, plugins, io);
  const { spec, task, model, params, step, notices } = loadTrial(folder, environment);
  for (const notice of notices) io.stderr.write(`${notice}\n`);
  const multiples = options.multiples ?? spec.evaluation.multiples;
  const evaluation = { ...spec.evaluation, multiples, windows: options.windows ?? spec.evaluation.windows };
  const name = options.encoding ?? spec.name;
  const lengths = [];
  for (const multiple of multiples) {
    const used = override ? overridden(spec, task, environment, name, override, multiple) : model;
    const score = await evaluateAt(used, params, task, spec.training.length, multiple, evaluation);
    lengths.push({ multiple, length: multiple * spec.training.length, score });
  }
  disposeParams(params);
  if (options.json)
    io.stdout.write(
      toJson({
        run: spec.name,
        step,
        encoding: override ?? spec.encoding,
        backend: describeRuntime(environment.runtime),
        lengths,
      }),
    );
  else io.stdout.write(`${scoreTable([{ name, lengths }], task)}\n`);
}

/** A type, or JSON, in which "auto" may stand for a factor. */
function readOverride(text: string): object {
  if (/^\s*[\w-]*\s*$/.test(text)) return { type: text.trim() };
  const config = parseJson(text, '--encoding');
  if (typeof config !== 'object' || config === null)
    throw new PosencError(
      `--encoding is ${text}: expected a type such as rope, or a JSON object such as {"type": "rope"}`,
    );
  return config;
}

function multiplesOf(text: string): number[] {
  const list = text.split(',').map(Number);
  if (list.some((k) => !Number.isInteger(k) || k < 1 || k > 4096))
    throw new InvalidArgumentError('It must be whole numbers from 1 to 4096, such as 1,2,4.');
  return list;
}
