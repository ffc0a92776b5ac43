/** What several commands share: their options, and examples in their help. */
import { type BackendName, backendNames } from '@posenc/backend';
import { PosencError } from '@posenc/core';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Io } from '../io.ts';
import { type Recorded, recorded } from '../trials/recorded.ts';
import { painter } from '../ui/style.ts';

/** A command adds itself to the program. */
export type AddCommand = (program: Command, io: Io) => void;

/** Lines shown under "Examples" in the help; a test runs every one of them. */
export type Examples = readonly (readonly [line: string, what: string])[];

/** Adds examples to the end of a command's help. */
export function withExamples(command: Command, io: Io, examples: Examples): Command {
  const paint = painter(io.stdout);
  const lines = examples.flatMap(([line, what]) => [`  ${paint('dim', `# ${what}`)}`, `  $ ${line}`]);
  return command.addHelpText('after', `\n${paint('bold', 'Examples:')}\n${lines.join('\n')}\n`);
}

/** `--plugin`, for every command that reads encodings. */
export const withPlugins = (command: Command): Command =>
  command.option(
    '--plugin <module>',
    'load encodings from a .ts or .js file or a package; repeatable',
    (module: string, all: string[]) => [...all, module],
    [],
  );

export const withJson = (command: Command): Command => command.option('--json', 'print one JSON document');

/** `--backend`, for every command that trains or evaluates. */
export const withBackend = (command: Command): Command =>
  command.addOption(
    new Option('--backend <name>', 'what computes (see posenc doctor)').choices(backendNames).default('auto'),
  );

/** Options of every command that fills a run folder; `resume` says what `--resume` does. */
export const withRun = (command: Command, resume: string): Command => {
  command
    .option('--resume', resume)
    .option(
      '--allow-drift',
      'with --resume: go on with what another backend, processor or number of threads began; the numbers are then of both',
    );
  return withBackend(withPlugins(withJson(command)));
};

/** Options of withRun, and the folder. */
export interface RunOptions {
  readonly out?: string;
  readonly resume?: true;
  readonly allowDrift?: true;
  readonly backend: BackendName;
  readonly plugin: string[];
  readonly json?: true;
}

/** What `folder` records of a run that is to be taken up, and the backend for it: the recorded one, unless another is asked for. */
export function takeUp(
  folder: string,
  { resume, allowDrift, backend }: RunOptions,
): Recorded & { backend: BackendName } {
  if (allowDrift && !resume) throw new PosencError('--allow-drift belongs to --resume: give both, or neither');
  const before = resume ? recorded(folder) : {};
  return { ...before, backend: backend === 'auto' ? (before.backend ?? 'auto') : backend };
}

/** A whole number within limits, for `option(…, …, wholeNumber(1, 10))`. */
export const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
    return value;
  };

/** Where configs come from, for the help of every command that reads one. */
export const configHelp = `
CONFIG is one of
  rope                                 the type of an encoding, with its defaults
  '{"type":"rope","base":500000}'      JSON
  encoding.json                        a JSON file; - reads standard input
  ./mine.ts                            a .ts or .js file, or a package, that exports an encoding
`;
