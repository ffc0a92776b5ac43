/** `posenc generate`: text from a trained run. */
import { totalmem } from 'node:os';
import { resolve } from 'node:path';
import type { BackendName } from '@posenc/backend';
import { disposeParams, generate, PosencError, stream } from '@posenc/core';
import { loadTrial, overridden } from '@posenc/training';
import { InvalidArgumentError } from 'commander';
import { parseJson } from '../config/json.ts';
import { createEnvironment } from '../environment.ts';
import type { Io } from '../io.ts';
import { trialDocument, withNamed } from '../plugins/named.ts';
import { toJson } from '../ui/json.ts';
import { type AddCommand, wholeNumber, withBackend, withExamples, withJson, withPlugins } from './common.ts';

interface Options {
  readonly prompt: string;
  readonly tokens: number;
  readonly temperature: number;
  readonly topK?: number;
  readonly seed: number;
  readonly encoding?: string;
  readonly grow?: true;
  readonly backend: BackendName;
  readonly plugin: string[];
  readonly json?: true;
}

export const addGenerate: AddCommand = (program, io) => {
  const command = program
    .command('generate')
    .summary('continue a prompt with a trained run')
    .description('Continue a prompt with a trained run, token by token, with a key/value cache.')
    .argument('<run>', 'folder of a run: of posenc train, or one of the trials of posenc compare')
    .option('--prompt <text>', 'the text to go on from', '\n')
    .option('--tokens <n>', 'tokens to produce', wholeNumber(1, 1_000_000), 200)
    .option('--temperature <t>', '0: always the most likely token', temperatureOf, 0.8)
    .option('--top-k <k>', 'choose among the k most likely', wholeNumber(1, 1_000_000))
    .option('--seed <n>', 'of the choices', wholeNumber(0, 2 ** 31), 1)
    .option('--encoding <json>', 'another config for the trained weights, such as a RoPE scaling')
    .option('--grow', 'tell the encoding the length so far, not the final one, and read everything again at each step');
  withBackend(withPlugins(withJson(command))).action((path: string, options: Options) => run(path, options, io));
  withExamples(command, io, [
    ['posenc generate runs/run --prompt "the " --tokens 40', 'forty more characters'],
    [
      'posenc generate runs/run --prompt "the " --tokens 20 --temperature 0 --json',
      'the most likely ones, for a program to read',
    ],
  ]);
};

async function run(path: string, options: Options, io: Io): Promise<void> {
  const folder = resolve(io.cwd, path);
  const override = options.encoding === undefined ? undefined : parseJson(options.encoding, '--encoding');
  const plugins = await withNamed(options.plugin, [trialDocument(folder), { encoding: override }], io);
  const environment = await createEnvironment(options.backend, plugins, io);
  const { spec, task, model, params, notices } = loadTrial(folder, environment);
  for (const notice of notices) io.stderr.write(`${notice}\n`);
  const prompt = Array.from(task.tokenizer.encode(options.prompt));
  const used = override ? overridden(spec, task, environment, '--encoding', override as object, 1) : model;
  const { maxPosition } = used.encoding.traits;
  if (prompt.length + options.tokens > maxPosition)
    throw new PosencError(
      `${prompt.length} prompt and ${options.tokens} new tokens reach past this encoding, which ends at position ${maxPosition - 1}: use --tokens ${Math.max(0, maxPosition - prompt.length)} or fewer, or an --encoding that reaches further`,
    );
  refuseBeyondMemory(prompt.length, used.config.numHeads);
  const text = (tokens: readonly number[]) => task.tokenizer.decode(tokens);
  if (!options.json) io.stdout.write(options.prompt);
  const produced = generate(used, params, prompt, {
    maxNewTokens: options.tokens,
    temperature: options.temperature,
    topK: options.topK,
    random: stream(options.seed, 'generate'),
    ...(options.grow && { seqLen: 'grow' as const }),
    onToken: (token) => !options.json && io.stdout.write(text([token])),
  });
  disposeParams(params);
  io.stdout.write(options.json ? toJson({ prompt: options.prompt, text: text(produced), tokens: produced }) : '\n');
}

function temperatureOf(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 100))
    throw new InvalidArgumentError('It must be a number from 0 to 100.');
  return value;
}

/** The prompt is read in one pass, whose scores alone take this much in a layer. */
function refuseBeyondMemory(length: number, numHeads: number): void {
  const bytes = 4 * numHeads * length * length;
  if (bytes <= totalmem() / 4) return;
  throw new PosencError(
    `the prompt has ${length} tokens, whose attention scores take ${(bytes / 2 ** 30).toFixed(1)} GiB a layer, too much for this machine: use a shorter one`,
  );
}
