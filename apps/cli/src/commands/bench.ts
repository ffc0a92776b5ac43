/** `posenc bench`: what each encoding costs beside NoPE, and how fast each backend takes the standard step of training. */
import { type BackendName, backendNames, probeBackends } from '@posenc/backend';
import { PosencError } from '@posenc/core';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ChildEnded } from '../bench/child.ts';
import { backendContenders, type Contender, entries } from '../bench/contenders.ts';
import type { BenchDocument, EncodingBench, StandardStep } from '../bench/document.ts';
import { decodedTokens } from '../bench/encoding-cost.ts';
import { candidates, measureEncodings } from '../bench/encodings.ts';
import { machine, startWatch, type Watch } from '../bench/machine.ts';
import { encodingHead, encodingText, standardStepText } from '../bench/print.ts';
import { quickSizes, standardSizes } from '../bench/problem.ts';
import { measureStandardStep } from '../bench/standard-step.ts';
import { packageVersions } from '../environment.ts';
import { Interrupted } from '../exit.ts';
import type { Io } from '../io.ts';
import { commitOf } from '../provenance.ts';
import { toJson } from '../ui/json.ts';
import { version } from '../version.ts';
import { type AddCommand, withExamples, withPlugins } from './common.ts';

interface Options {
  readonly lengths: readonly number[];
  readonly only?: 'standard-step' | 'encodings';
  readonly quick?: true;
  readonly backend: BackendName;
  readonly plugin: string[];
  readonly json?: true;
}

/** What a benchmark adds to posenc’s own. */
export interface Rivals {
  /** Others that take the standard step. */
  readonly contenders: readonly Contender[];
  /** Their versions, and whatever else the document should name. */
  readonly versions?: Readonly<Record<string, string>>;
  /** Called with the finished document; returns what to say about it. */
  save?(document: BenchDocument): string | undefined;
}

const normal = { lengths: [128, 512, 2048], effort: { least: 3, most: 7, seconds: 1 }, rounds: 7 };
const quick = { lengths: [16, 32], effort: { least: 2, most: 2, seconds: 0 }, rounds: 2 };

/** The command, for posenc alone or with rivals of whoever builds on it. */
export const benchCommand =
  (rivals: Rivals = { contenders: [] }): AddCommand =>
  (program, io) => {
    const command = program
      .command('bench')
      .summary('measure what encodings cost and how fast the backends are')
      .description(
        'Measure every encoding beside NoPE (forward, forward + backward, cached decoding, memory, parameters), and one standard step of training on every backend present. Tables go to standard error, one JSON document to standard output. Run it on a machine that does nothing else.',
      )
      .argument('[encodings...]', 'CONFIGs as posenc inspect takes them; default: every encoding with its defaults')
      .option('--lengths <list>', `tokens, such as 128,512; default: ${normal.lengths.join(',')}`, lengthsOf)
      .addOption(new Option('--only <part>', 'measure this part alone').choices(['standard-step', 'encodings']))
      .option('--quick', 'small sizes and few rounds: a look, not a result')
      .option('--json', 'the document alone, without tables')
      .addOption(
        new Option('--backend <name>', 'what computes the encodings (see posenc doctor)')
          .choices(backendNames)
          .default('auto'),
      );
    withPlugins(command).action((specs: string[], options: Options, self: Command) =>
      bench(specs, options, self, rivals, io),
    );
    withExamples(command, io, [
      ['posenc bench --quick', 'a look'],
      ['posenc bench rope alibi --only encodings --lengths 128', 'two encodings at one length'],
      ['posenc bench --quick --only encodings ./mine.ts', 'one of your own'],
    ]);
  };

export const addBench = benchCommand();

async function bench(specs: string[], options: Options, self: Command, rivals: Rivals, io: Io): Promise<void> {
  const measured = options.only !== 'standard-step' ? await candidates(specs, options.plugin, io) : [];
  if (specs.length && options.only === 'standard-step')
    throw new PosencError('the standard step is taken without positions: leave out the encodings, or --only');
  const [signal, watch] = [io.interrupted(), startWatch()];
  const parts = { options, watch, signal, ...screen(options, io) };
  let encodings: EncodingBench | null = null;
  let standardStep: StandardStep | null = null;
  try {
    if (options.only !== 'encodings') standardStep = await standardStepPart(rivals.contenders, parts);
    if (options.only !== 'standard-step') encodings = await encodingPart(measured, parts, io);
  } catch (error) {
    if (signal.aborted) throw new Interrupted('stopped: nothing was kept');
    if (error instanceof ChildEnded) throw new PosencError(error.message, { cause: error });
    throw error;
  } finally {
    parts.clear();
  }
  const document: BenchDocument = {
    format: 'posenc-bench/1',
    date: new Date().toISOString(),
    commit: commitOf(io.cwd),
    command: ['posenc', 'bench', ...self.parent!.args.slice(1)].join(' '),
    quick: options.quick === true,
    machine: { ...machine(), loadBefore: watch.loadBefore, otherCores: watch.otherCores() },
    versions: { posenc: version, node: process.versions.node, ...packageVersions(), ...rivals.versions },
    encodings,
    standardStep,
  };
  io.stdout.write(toJson(document));
  const said = rivals.save?.(document);
  if (said) parts.say(`${said}\n`);
}

interface Part {
  readonly options: Options;
  readonly watch: Watch;
  readonly signal: AbortSignal;
  say(text: string): void;
  onProgress(text: string): void;
}

async function encodingPart(all: Awaited<ReturnType<typeof candidates>>, part: Part, io: Io): Promise<EncodingBench> {
  const { options, say } = part;
  const { lengths, effort } = options.quick ? quick : normal;
  say(encodingHead());
  return measureEncodings(all, {
    ...part,
    effort,
    lengths: options.lengths ?? lengths,
    backend: options.backend,
    cwd: io.cwd,
    onRow: (row) => say(encodingText(row)),
  });
}

async function standardStepPart(rivals: readonly Contender[], part: Part): Promise<StandardStep> {
  const backends = backendContenders(await probeBackends());
  const { rounds } = part.options.quick ? quick : normal;
  const result = await measureStandardStep(entries([...backends, ...rivals]), {
    ...part,
    sizes: part.options.quick ? quickSizes : standardSizes,
    rounds,
  });
  part.say(standardStepText(result));
  return result;
}

/** Tables as they come, and on a terminal one line below them that says what is measured now. */
function screen({ json }: Options, { stderr }: Io) {
  const alive = !json && stderr.columns !== undefined;
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
    },
  };
}

function lengthsOf(text: string): number[] {
  const list = text.split(',').map(Number);
  const least = decodedTokens + 1;
  if (list.some((length) => !Number.isInteger(length) || length < least || length > 65536))
    throw new InvalidArgumentError(`It must be whole numbers from ${least} to 65536, such as 128,512.`);
  return list;
}
