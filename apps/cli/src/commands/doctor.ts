/** `posenc doctor`: what this machine has, what it lacks, and how to get it. */
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { type BackendReport, probeBackends, useBackend } from '@posenc/backend';
import type { Io } from '../io.ts';
import { toJson } from '../ui/json.ts';
import { columns, hanging, painter, widthOf } from '../ui/style.ts';
import { version } from '../version.ts';
import { type AddCommand, withExamples, withJson } from './common.ts';

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
  readonly backends: readonly BackendReport[];
}

export const addDoctor: AddCommand = (program, io) => {
  const command = program
    .command('doctor')
    .summary('say what this machine can compute on')
    .description(
      'Say what this machine can compute on: Node.js, cores, memory, and each backend, with the command that gets a missing one. Installs nothing.',
    );
  withJson(command).action(async (options: { json?: true }) => {
    const report = await examine();
    io.stdout.write(options.json ? toJson(report) : textOf(report, io));
  });
  withExamples(command, io, [
    ['posenc doctor', 'look'],
    ['posenc doctor --json', 'for a bug report'],
  ]);
};

async function examine(): Promise<Report> {
  const [backends, auto] = await Promise.all([probeBackends(), useBackend('auto').catch(() => undefined)]);
  return {
    posenc: version,
    node: process.versions.node,
    platform: `${type()} ${release()} ${process.arch}`,
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory: {
      totalBytes: Math.min(totalmem(), process.constrainedMemory() || totalmem()),
      freeBytes: process.availableMemory(),
    },
    auto: auto?.name ?? null,
    backends,
  };
}

function textOf({ posenc, node, platform, processor, cores, memory, auto, backends }: Report, { stdout }: Io): string {
  const paint = painter(stdout);
  const width = widthOf(stdout);
  const gib = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
  const facts = columns([
    ['posenc', posenc],
    ['Node.js', node],
    ['system', platform],
    ['processor', processor],
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
  return `${[...facts, '', paint('bold', 'Backends'), ...lines].join('\n')}\n`;
}
