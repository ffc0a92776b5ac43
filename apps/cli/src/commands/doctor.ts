/** `posenc doctor`: what this machine has, what it lacks, and how to get it. */
import { availableParallelism, release, totalmem, type } from 'node:os';
import { type BackendReport, type Choice, chooseAuto, type NativeName, probeBackends } from '@posenc/backend';
import { PosencError } from '@posenc/core';
import { Option } from 'commander';
import { processor } from '../environment.ts';
import type { Io } from '../io.ts';
import { toJson } from '../ui/json.ts';
import { columns, hanging, painter, widthOf } from '../ui/style.ts';
import { version } from '../version.ts';
import { type AddCommand, withExamples, withJson } from './common.ts';
import { type InstallFlags, install } from './doctor-install.ts';

interface Report {
  readonly posenc: string;
  readonly node: string;
  readonly platform: string;
  readonly processor: string;
  /** That this process may use. */
  readonly cores: number;
  /** Within the limits of a container. */
  readonly memory: { readonly totalBytes: number; readonly freeBytes: number };
  /** What `--backend auto` takes here; null: it fails, as its line says. */
  readonly auto: string | null;
  /** Why: what was measured, where there was something to choose from. */
  readonly choice: Choice;
  readonly backends: readonly BackendReport[];
}

export const addDoctor: AddCommand = (program, io) => {
  const command = program
    .command('doctor')
    .summary('say what this machine can compute on')
    .description(
      'Say what this machine can compute on: Node.js, cores, memory, and each backend, with the command that gets a missing one. Installs nothing, unless asked to.',
    )
    .addOption(
      new Option('--install <backend>', 'set a native backend up in a folder of its own').choices([
        'tensorflow',
        'tensorflow-gpu',
      ]),
    )
    .option('--dir <folder>', 'with --install: the data folder to use; default: POSENC_HOME, else the user’s')
    .option('--dry-run', 'with --install: print what it needs and the steps it would take');
  withJson(command).action(async (options: InstallFlags & { install?: NativeName }) => {
    if (options.install) return install(options.install, options, io);
    for (const flag of ['dir', 'dryRun'] as const)
      if (options[flag] !== undefined)
        throw new PosencError(
          `--${flag === 'dir' ? 'dir' : 'dry-run'} belongs to --install: posenc doctor --install tensorflow`,
        );
    const report = await examine();
    io.stdout.write(options.json ? toJson(report) : textOf(report, io));
  });
  withExamples(command, io, [
    ['posenc doctor', 'look'],
    ['posenc doctor --json', 'for a bug report'],
    ['posenc doctor --install tensorflow --dry-run', 'what a native backend needs, and what would be done'],
  ]);
};

async function examine(): Promise<Report> {
  const choice = await chooseAuto(); // before the others start: it may measure
  const backends = await probeBackends();
  const works = backends.some(({ available, name }) => available && name === choice.name);
  return {
    posenc: version,
    node: process.versions.node,
    platform: `${type()} ${release()} ${process.arch}`,
    processor: processor(),
    cores: availableParallelism(),
    memory: {
      totalBytes: Math.min(totalmem(), process.constrainedMemory() || totalmem()),
      freeBytes: process.availableMemory(),
    },
    auto: works ? choice.name : null,
    choice,
    backends,
  };
}

function textOf(report: Report, { stdout }: Io): string {
  const { posenc, node, platform, cores, memory, auto, choice, backends } = report;
  const paint = painter(stdout);
  const width = widthOf(stdout);
  const gib = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
  const facts = columns([
    ['posenc', posenc],
    ['Node.js', node],
    ['system', platform],
    ['processor', report.processor],
    ['cores', String(cores)],
    ['memory', `${gib(memory.totalBytes)}, ${gib(memory.freeBytes)} free`],
  ]);
  const nameOf = ({ name }: BackendReport) => (name === auto ? `${name} (auto)` : name);
  const nameWidth = Math.max(...backends.map((b) => nameOf(b).length));
  const lines = backends.flatMap((backend) => {
    const start = `  ${backend.available ? '✓' : '✗'} ${nameOf(backend).padEnd(nameWidth)}  `;
    if (backend.available) return [paint('green', hanging(start, backend.description, width))];
    const remedy = backend.command && `${' '.repeat(start.length)}to get it: ${paint('bold', backend.command)}`;
    return [hanging(start, backend.reason, width), ...(remedy ? [remedy] : [])];
  });
  return `${[...facts, '', paint('bold', 'Backends'), ...lines, ...measuredText(choice, width)].join('\n')}\n`;
}

/** What `auto` was chosen by: nothing, where there was nothing to choose from. */
function measuredText({ reason, measured, date, file }: Choice, width: number): string[] {
  if (!reason) return [];
  const rows = measured.map((sample) => [
    `  ${sample.name}`,
    'losses' in sample ? `${sample.stepMs.toFixed(0)} ms` : 'fails',
    'losses' in sample ? `loss ${sample.losses.at(-1)!.toFixed(5)} at step ${sample.losses.length}` : '',
  ]);
  return [
    '',
    hanging('', reason, width),
    `Measured on ${date!.slice(0, 10)}, one layer of training on 8 × 128 tokens; kept in ${file} (delete it to measure again):`,
    ...columns(rows, [1]),
  ];
}
