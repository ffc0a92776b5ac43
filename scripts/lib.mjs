/** What every root script shares. Plain JavaScript: it runs on whatever Node the machine has, before the pinned one is there. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, 'node_modules', '.bin');
const stamp = join(root, 'node_modules', '.posenc-setup');
const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The environment in which `node`, `pnpm`, `turbo` … are the pinned ones. */
const environment = {
  ...process.env,
  PATH: `${bin}${delimiter}${process.env.PATH}`,
  TURBO_TELEMETRY_DISABLED: '1',
  DO_NOT_TRACK: '1',
};

/** Installs the pinned Node, pnpm and all dependencies, unless they are there for this very lockfile. */
export function ensureSetup() {
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'pnpm-lock.yaml')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted && existsSync(join(bin, 'node'))) return;
  const major = Number(process.versions.node.split('.')[0]);
  if (major < 20) fail(`Node ${process.versions.node} is too old to set this up: install Node 20 or newer`);
  const started = performance.now();
  console.error(`Setting up (once): Node, ${packageManager} and the dependencies …`);
  const result = spawnSync('npx', ['--yes', packageManager, 'install', '--frozen-lockfile'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 1 << 28,
  });
  if (result.error) fail(`npx could not be started: ${result.error.message}. Is npm installed?`);
  if (result.status !== 0) {
    console.error(result.stdout, result.stderr);
    fail(`the dependencies could not be installed: ${adviceOn(result.stdout + result.stderr)}`);
  }
  writeFileSync(stamp, wanted);
  console.error(`Set up in ${((performance.now() - started) / 1000).toFixed(0)} s.`);
}

/** What to do about a failed installation, by what pnpm said of it. */
export function adviceOn(output) {
  if (/ERR_PNPM_(OUTDATED_LOCKFILE|LOCKFILE_CONFIG_MISMATCH|FROZEN_LOCKFILE)/.test(output))
    return `pnpm-lock.yaml does not fit the package.json files. Run: npx ${packageManager} install --no-frozen-lockfile`;
  if (/ENOSPC/.test(output)) return 'the disk is full';
  if (/ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ERR_PNPM_(META_)?FETCH|ERR_SOCKET_TIMEOUT/.test(output))
    return 'see above. Is the package registry reachable?';
  return 'see above';
}

/** Runs a program in the repository with the pinned tools; resolves to its exit code. Ctrl-C reaches it directly. */
export function run(command, args, options = {}) {
  const ignore = () => {};
  process.on('SIGINT', ignore);
  return new Promise((done) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', env: environment, ...options });
    child.on('error', (error) => {
      console.error(`${command}: ${error.message}`);
      done(127);
    });
    child.on('close', (code, signal) => {
      process.off('SIGINT', ignore);
      done(code ?? (signal === 'SIGINT' ? 130 : 1));
    });
  });
}

/** The CLI from its sources. */
export const posenc = (args, options) =>
  run(join(bin, 'node'), ['--conditions=posenc-source', join(root, 'apps', 'cli', 'src', 'main.ts'), ...args], options);

export function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}
