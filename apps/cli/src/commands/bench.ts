/** `posenc bench`: what each encoding costs beside NoPE, and how fast each backend computes what training needs. */
import { type BackendName, type BackendReport, backendNames } from '@posenc/backend';
import { PosencError } from '@posenc/core';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ChildEnded } from '../bench/child.ts';
import { type Contender, presentBackends } from '../bench/contenders.ts';
import type { BenchDocument } from '../bench/document.ts';
import { candidates } from '../bench/encodings.ts';
import { machine, settings, startWatch } from '../bench/machine.ts';
import { encodingLengths, encodingParts, nothingMeasured, type PartName, partNames, parts } from '../bench/parts.ts';
import { decodedTokens } from '../bench/work.ts';
import { packageVersions } from '../environment.ts';
import { Interrupted } from '../exit.ts';
import type { Io } from '../io.ts';
import { commitOf } from '../provenance.ts';
import { toJson } from '../ui/json.ts';
import { version } from '../version.ts';
import { type AddCommand, withExamples, withPlugins } from './common.ts';

interface Options {
  readonly lengths?: readonly number[];
  readonly only: readonly PartName[];
  readonly quick?: true;
  readonly backend: BackendName;
  readonly plugin: string[];
  readonly json?: true;
}

/** What a benchmark adds to posenc’s own. */
export interface Rivals {
  /** Others that take the standard step. */
  readonly contenders: readonly Contender[];
  /** Others that multiply matrices. */
  readonly products?: readonly Contender[];
  /** Their versions, and whatever else the document should name. */
  readonly versions?: Readonly<Record<string, string>>;
  /** Several parts under one name, for `--only`. */
  readonly groups?: Readonly<Record<string, readonly PartName[]>>;
  /** Called with the finished document; returns what to say about it. */
  conclude?(document: BenchDocument): string | undefined;
}

/** The command, for posenc alone or with rivals of whoever builds on it. */
export const benchCommand =
  (rivals: Rivals = { contenders: [] }): AddCommand =>
  (program, io) => {
    const { groups = {} } = rivals;
    const names = [...partNames, ...Object.keys(groups)];
    const command = program
      .command('bench')
      .summary('measure what encodings cost and how fast the backends are')
      .description(
        'Measure every backend present side by side (the standard step of training, attention as texts grow, matrix products, decoding), where the time of a step goes, and every encoding beside NoPE. Tables go to standard error, one JSON document to standard output. Run it on a machine that does nothing else.',
      )
      .argument('[encodings...]', 'CONFIGs as posenc inspect takes them; default: every encoding with its defaults')
      .option('--lengths <list>', `tokens of the part encodings; default: ${encodingLengths.join(',')}`, lengthsOf)
      .addOption(
        new Option(
          '--only <parts>',
          `measure these parts alone, such as ${names.slice(0, 2).join(',')}: ${names.join(', ')}`,
        )
          .argParser(partsOf(groups))
          .default(partNames, 'all'),
      )
      .option('--quick', 'small sizes and few rounds: a look, not a result')
      .option('--json', 'the document alone, without tables')
      .addOption(
        new Option(
          '--backend <name>',
          'measure this one alone (see posenc doctor); auto: every one that is present, but webgpu',
        )
          .choices(backendNames)
          .default('auto'),
      );
    withPlugins(command).action((specs: string[], options: Options, self: Command) =>
      bench(specs, options, self, rivals, io),
    );
    withExamples(command, io, [
      ['posenc bench --quick', 'a look'],
      ['posenc bench --only standard-step,attention', 'every backend side by side'],
      ['posenc bench --only attention --backend simd --json', 'one of them, for a program'],
      ['posenc bench rope alibi --only encodings --lengths 128', 'two encodings at one length'],
      ['posenc bench --quick --only encodings ./mine.ts', 'one of your own'],
    ]);
  };

export const addBench = benchCommand();

async function bench(specs: string[], options: Options, self: Command, rivals: Rivals, io: Io): Promise<void> {
  const chosen = specs.length > 0;
  const encodings = options.only.some((name) => encodingParts.includes(name));
  if (chosen && !encodings)
    throw new PosencError(
      `${options.only.join(', ')}: taken without positions. Leave out the encodings, or --only, or name ${encodingParts.join(' or ')} in it`,
    );
  const [signal, watch, show] = [io.interrupted(), startWatch(), screen(options, io)];
  let backends: Promise<BackendReport[]> | undefined;
  const context = {
    ...{ io, chosen, watch, signal, ...show },
    candidates: encodings ? await candidates(specs, options.plugin, io) : [],
    quick: options.quick === true,
    backend: options.backend,
    lengths: options.lengths,
    contenders: rivals.contenders,
    products: rivals.products ?? [],
    present: () => (backends ??= presentBackends(options.backend)),
  };
  let results = nothingMeasured;
  try {
    for (const name of partNames)
      if (options.only.includes(name)) results = { ...results, ...(await parts[name](context)) };
  } catch (error) {
    if (signal.aborted) throw new Interrupted('stopped: nothing was kept');
    if (error instanceof ChildEnded) throw new PosencError(error.message, { cause: error });
    throw error;
  } finally {
    show.clear();
  }
  const document: BenchDocument = {
    format: 'posenc-bench/2',
    date: new Date().toISOString(),
    commit: commitOf(io.cwd),
    command: ['posenc', 'bench', ...self.parent!.args.slice(1)].join(' '),
    quick: options.quick === true,
    machine: { ...machine(), loadBefore: watch.loadBefore, otherCores: watch.otherCores() },
    versions: { posenc: version, node: process.versions.node, ...packageVersions(), ...rivals.versions },
    environment: settings(io.env),
    ...results,
  };
  io.stdout.write(toJson(document));
  const said = rivals.conclude?.(document);
  if (said) show.say(`${said}\n`);
}

const progressSeconds = 5;

/**
 * Tables as they come. What is measured now: on a terminal one line below them; elsewhere a line from time to time, so that a
 * log shows that it goes on.
 */
function screen({ json }: Options, { stderr }: Io) {
  const alive = !json && stderr.columns !== undefined;
  const started = performance.now();
  let told = started;
  const clear = () => void (alive && stderr.write('\r\x1b[K'));
  return {
    clear,
    say: (text: string) => {
      if (json) return;
      clear();
      stderr.write(text);
    },
    onProgress: (text: string) => {
      clear();
      if (alive) stderr.write(`${text.slice(0, stderr.columns! - 2)} …`);
      else if (!json && performance.now() - told > 1000 * progressSeconds) {
        told = performance.now();
        stderr.write(`[${((told - started) / 1000).toFixed(0)} s] ${text}\n`);
      }
    },
  };
}

/** Names of parts and of groups of them, separated by commas. */
const partsOf =
  (groups: NonNullable<Rivals['groups']>) =>
  (text: string): PartName[] =>
    text.split(',').flatMap((name) => {
      if (Object.hasOwn(groups, name)) return groups[name]!;
      const part = partNames.find((known) => known === name);
      if (!part)
        throw new InvalidArgumentError(`Allowed parts are ${[...partNames, ...Object.keys(groups)].join(', ')}.`);
      return part;
    });

function lengthsOf(text: string): number[] {
  const list = text.split(',').map(Number);
  const least = decodedTokens + 1;
  if (list.some((length) => !Number.isInteger(length) || length < least || length > 65536))
    throw new InvalidArgumentError(`It must be whole numbers from ${least} to 65536, such as 128,512.`);
  return list;
}
