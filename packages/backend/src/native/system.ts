/** What this machine has: programs on the path, room on the disk, how its packages are installed. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

export type Env = Readonly<NodeJS.ProcessEnv>;

/** The full path of a program, as a shell would find it. */
export function which(program: string, env: Env): string | undefined {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', '.bat'] : [''];
  for (const folder of (env.PATH ?? env.Path ?? '').split(delimiter).filter(Boolean))
    for (const ending of endings) {
      const path = join(folder, program + ending);
      try {
        accessSync(path, constants.X_OK);
        if (statSync(path).isFile()) return path;
      } catch {
        // not here
      }
    }
  return undefined;
}

/** These programs keep no compiled code: nothing is written by looking. */
const noTraces = { NODE_DISABLE_COMPILE_CACHE: '1', PYTHONDONTWRITEBYTECODE: '1' };

/** What a short command prints, trimmed; undefined when it cannot be run or fails. */
export function answer(command: string, args: readonly string[], env: Env, input = ''): string | undefined {
  const { status, stdout, stderr } = spawnSync(command, args, {
    env: { ...env, ...noTraces },
    input,
    encoding: 'utf8',
    timeout: 60_000,
  });
  return status === 0 ? (stdout || stderr).trim() : undefined;
}

/** Bytes that may still be written where `folder` is or will be. */
export function freeBytes(folder: string): number {
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  const { bavail, bsize } = statfsSync(existing);
  return bavail * bsize;
}

/** Version of the GNU C library as [major, minor]; undefined where there is another one (musl) or another system. */
export function glibc(): readonly [number, number] | undefined {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  const match = header.glibcVersionRuntime?.match(/^(\d+)\.(\d+)/);
  return match ? [Number(match[1]), Number(match[2])] : undefined;
}

export type SystemPackage = 'npm' | 'python' | 'pip' | 'compiler';

const managers: Readonly<Record<string, { install: string; names: Readonly<Record<SystemPackage, string>> }>> = {
  'apt-get': {
    install: 'apt-get install -y',
    names: { npm: 'npm', python: 'python3', pip: 'python3-pip', compiler: 'g++' },
  },
  dnf: {
    install: 'dnf install -y',
    names: { npm: 'npm', python: 'python3', pip: 'python3-pip', compiler: 'gcc-c++' },
  },
  zypper: {
    install: 'zypper install -y',
    names: { npm: 'npm', python: 'python3', pip: 'python3-pip', compiler: 'gcc-c++' },
  },
  pacman: {
    install: 'pacman -S --noconfirm',
    names: { npm: 'npm', python: 'python', pip: 'python-pip', compiler: 'gcc' },
  },
};

/** The command that installs a system package here; undefined where it is not known. */
export function systemInstall(what: SystemPackage, env: Env): string | undefined {
  const manager = Object.entries(managers).find(([program]) => which(program, env))?.[1];
  const root = process.getuid?.() === 0 ? '' : 'sudo ';
  return manager && `${root}${manager.install} ${manager.names[what]}`;
}
