/** Whatever an installation needs, looked at before anything is downloaded: each thing found, or missing with its remedy. */
import type { Recipe } from './recipe.ts';
import { answer, type Env, freeBytes, glibc, type SystemPackage, systemInstall, which } from './system.ts';

export interface Requirement {
  readonly what: string;
  /** What there is; undefined: it is missing. */
  readonly found?: string;
  /** Why it does not do, and the command that gets it, where there is one. */
  readonly reason?: string;
  readonly command?: string;
}

export interface Tools {
  readonly npm: string | undefined;
  readonly python: string | undefined;
  readonly compiler: string | undefined;
}

/** Programs used, as full paths. */
export function findTools(env: Env): Tools {
  const python = ['python3', 'python'].map((name) => which(name, env)).find(Boolean);
  const compiler = [env.CXX, 'g++', 'c++', 'clang++'].map((name) => name && which(name, env)).find(Boolean);
  return { npm: which('npm', env), python, compiler: compiler || undefined };
}

/** For either way: npm, room, and a graphics card for the backend that is about one. */
export function commonRequirements({ name, disk }: Recipe, folder: string, env: Env): Requirement[] {
  const { npm } = findTools(env);
  const free = freeBytes(folder) / 1e6;
  const room = free >= disk ? { found: gigabytes(free) } : { reason: `${gigabytes(free)} free` };
  return [
    tool('npm', 'npm', npm && versionOf(npm, ['--version'], env), env),
    { what: `${gigabytes(disk)} free in ${folder}`, ...room },
    ...(name === 'tensorflow-gpu' ? [graphicsCard(env)] : []),
  ];
}

/** For building the binding against a wheel. */
export function buildRequirements(env: Env): Requirement[] {
  const { python, compiler } = findTools(env);
  const pythonVersion = python && answer(python, ['-c', 'import platform; print(platform.python_version())'], env);
  const pip = python && answer(python, ['-m', 'pip', '--version'], env)?.match(/^pip \S+/)?.[0];
  const works =
    compiler &&
    answer(compiler, ['-std=c++17', '-x', 'c++', '-fsyntax-only', '-'], env, '#include <string>') !== undefined;
  return [
    system(),
    tool('Python 3', 'python', pythonVersion?.startsWith('3.') ? pythonVersion : undefined, env),
    tool('pip', 'pip', pip || undefined, env),
    tool('a C++17 compiler', 'compiler', works ? compiler : undefined, env),
  ];
}

export const missing = (requirements: readonly Requirement[]): Requirement[] =>
  requirements.filter(({ found }) => found === undefined);

const gigabytes = (megabytes: number) => `${(megabytes / 1000).toFixed(1)} GB`;

const versionOf = (program: string, args: readonly string[], env: Env) => answer(program, args, env);

function tool(what: string, name: SystemPackage, found: string | undefined, env: Env): Requirement {
  if (found) return { what, found };
  const command = systemInstall(name, env);
  return command
    ? { what, reason: 'not found', command }
    : { what, reason: 'not found: install it with your system’s package manager' };
}

function system(): Requirement {
  const what = 'Linux on x86-64 with the GNU C library 2.17 or newer';
  const [major, minor] = glibc() ?? [0, 0];
  if (process.platform === 'linux' && process.arch === 'x64' && major === 2 && minor >= 17)
    return { what, found: `glibc ${major}.${minor}` };
  return {
    what,
    reason: `this is ${process.platform} on ${process.arch}${process.platform === 'linux' && !major ? ' with another C library' : ''}`,
  };
}

function graphicsCard(env: Env): Requirement {
  const what = 'an NVIDIA graphics card and its driver';
  const program = which('nvidia-smi', env);
  const cards = program && answer(program, ['-L'], env);
  return cards
    ? { what, found: cards.split('\n')[0]! }
    : { what, reason: program ? 'nvidia-smi finds none' : 'there is no nvidia-smi: the driver is not installed' };
}
