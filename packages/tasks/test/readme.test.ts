import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('the example in the README runs and prints what it says', () => {
  const packageRoot = join(import.meta.dirname, '..');
  const [, code] = /```ts\n(.*?)```/s.exec(readFileSync(join(packageRoot, 'README.md'), 'utf8'))!;
  // Inside the package, so that it can import itself by name.
  const program = join(packageRoot, 'test-results', 'readme.ts');
  mkdirSync(join(packageRoot, 'test-results'), { recursive: true });
  writeFileSync(program, code!);
  const folder = mkdtempSync(join(tmpdir(), 'posenc readme '));
  const { stdout, stderr } = spawnSync(process.execPath, ['--conditions=posenc-source', program], {
    cwd: folder,
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  expect(stderr).toBe('');
  // What is printed stands behind the call, or below it.
  const promised = code!.split('\n').flatMap((line) => /(?:console\.log.* |^)\/\/ ([^A-Z].*)/.exec(line)?.[1] ?? []);
  expect(promised.length).toBeGreaterThan(0);
  expect(stdout.trim().split('\n')).toEqual(promised);
});
