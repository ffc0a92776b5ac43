/** A copy of the repository to try things in: every file that git has or would take, the dependencies installed. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../src/packages.ts';

/** Makes it in a new folder, whose path it returns, with one commit. The pinned tools of this checkout install it, without a network. */
export function copyRepository(name: string): string {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), `posenc ${name} `)));
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of list.split('\0').filter((path) => path && existsSync(join(root, path)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: copy, env: anybody, stdio: 'pipe' });
  run(join(root, 'node_modules', '.bin', 'pnpm'), 'install', '--offline', '--frozen-lockfile', '--reporter=silent');
  run('git', 'init', '--quiet', '--initial-branch=main');
  run('git', 'add', '--all');
  run('git', 'commit', '--quiet', '--message=all');
  return copy;
}

/** The environment of a process that may commit, whoever runs the tests, and that inherits no settings of Node.js from them. */
export const anybody: NodeJS.ProcessEnv = {
  ...process.env,
  NODE_OPTIONS: '',
  GIT_AUTHOR_NAME: 'anybody',
  GIT_AUTHOR_EMAIL: 'anybody@example.org',
  GIT_COMMITTER_NAME: 'anybody',
  GIT_COMMITTER_EMAIL: 'anybody@example.org',
};
