/** `posenc doctor --install`: what it says while it works, and at the end. */
import { resolve } from 'node:path';
import {
  dataFolder,
  type Installation,
  type InstallEvent,
  type InstallPlan,
  installNative,
  type NativeName,
  planInstall,
} from '@posenc/backend';
import { Interrupted } from '../exit.ts';
import type { Io } from '../io.ts';
import { duration } from '../progress/duration.ts';
import { toJson } from '../ui/json.ts';
import { painter } from '../ui/style.ts';

export interface InstallFlags {
  readonly dir?: string;
  readonly dryRun?: true;
  readonly json?: true;
}

export async function install(name: NativeName, { dir, dryRun, json }: InstallFlags, io: Io): Promise<void> {
  const home = dir === undefined ? dataFolder() : resolve(io.cwd, dir);
  if (dryRun) {
    const plan = planInstall(name, { home });
    io.stdout.write(json ? toJson({ backend: name, ...plan }) : planText(name, plan, io));
    return;
  }
  const signal = io.interrupted();
  const view = createView(io);
  let done: Installation;
  try {
    done = await installNative(name, { home, signal, onEvent: view });
  } catch (error) {
    if (!signal.aborted) throw error;
    const again = ['posenc doctor --install', name, ...(dir ? ['--dir', dir] : [])].join(' ');
    throw new Interrupted(`stopped. What is finished is kept. Go on with: ${again}`);
  } finally {
    view({ kind: 'note', text: '' });
  }
  if (json) io.stdout.write(toJson(done));
  else io.stdout.write(resultText(name, done, home));
}

function planText(name: NativeName, plan: InstallPlan, { stdout }: Io): string {
  const paint = painter(stdout);
  const needs = plan.requirements.map(({ what, found, reason, command }) =>
    found === undefined
      ? `  ✗ ${what}: ${reason}${command ? `; to get it: ${paint('bold', command)}` : ''}`
      : `  ✓ ${what}: ${found}`,
  );
  const steps = plan.steps.map(
    ({ title, when, finished }) =>
      `  ${finished ? '✓' : '·'} ${title}${finished ? '' : when === 'first' ? '' : ` (${when})`}`,
  );
  return [
    `${paint('bold', name)} into ${plan.folder}: at most ${megabytes(plan.downloadMegabytes * 1e6)} to download, ${megabytes(plan.diskMegabytes * 1e6)} of disk while it is built`,
    '',
    paint('bold', 'Needs'),
    ...needs,
    '',
    paint('bold', 'Steps'),
    ...steps,
    '  · train a few steps on it',
    '',
  ].join('\n');
}

function resultText(name: NativeName, done: Installation, home: string): string {
  const sums = Object.entries({ ...done.sources, ...done.checksums });
  const lines = [
    done.found
      ? `${name} is there, unchanged, and works: ${done.backend.description}`
      : `${name} is installed and works: ${done.backend.description}`,
    `  in          ${done.folder} (${megabytes(done.diskBytes)})`,
    `  by          ${done.way === 'npm' ? 'npm and its own download' : 'a build against the TensorFlow wheel'}`,
    `  downloaded  ${megabytes(done.downloadedBytes)}`,
    `  took        ${duration(done.seconds)}${done.found ? ' to check' : ''}`,
    '  checksums',
    ...sums.map(([file, sum]) => `    ${sum.includes('-') ? sum : `sha256-${sum}`}  ${file}`),
    `Use it with --backend ${name}; auto takes it where it is clearly faster (posenc doctor).`,
  ];
  if (home !== dataFolder()) lines.push(`So that posenc finds it there: export POSENC_HOME=${home}`);
  return `${lines.join('\n')}\n`;
}

/** One line a step; on a terminal the size of what has come so far. */
function createView({ stderr }: Io): (event: InstallEvent) => void {
  let open = false;
  const line = (text: string) => {
    if (open) stderr.write('\r\u001B[K');
    open = false;
    if (text) stderr.write(`${text}\n`);
  };
  return (event) => {
    if (event.kind === 'note') line(event.text && `  ${event.text}`);
    else if (event.kind === 'kept') line(`✓ ${event.title}: done before`);
    else if (event.kind === 'done')
      line(
        `✓ ${event.title}: ${[duration(event.seconds), event.bytes > 0 ? megabytes(event.bytes) : ''].filter(Boolean).join(', ')}`,
      );
    else if (stderr.columns === undefined) {
      if (event.kind === 'start') line(`… ${event.title}`);
    } else {
      stderr.write(
        `\r\u001B[K… ${event.title}${event.kind === 'progress' ? `: ${megabytes(event.bytes)}` : ''}`.slice(
          0,
          stderr.columns + 3,
        ),
      );
      open = true;
    }
  };
}

const megabytes = (bytes: number): string =>
  bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.round(bytes / 1e6)} MB`;
