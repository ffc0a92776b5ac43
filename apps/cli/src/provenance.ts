/** Where results come from. */
import { spawnSync } from 'node:child_process';

/** The commit a folder is at, with "+changes" when its tracked files differ; null outside a repository. */
export function commitOf(folder: string): string | null {
  const git = (...args: string[]) => spawnSync('git', ['-C', folder, ...args], { encoding: 'utf8' });
  const head = git('rev-parse', '--short=12', 'HEAD');
  if (head.status !== 0) return null;
  const changed = git('status', '--porcelain', '--untracked-files=no').stdout.trim() !== '';
  return head.stdout.trim() + (changed ? '+changes' : '');
}
