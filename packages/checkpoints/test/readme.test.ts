import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const packageRoot = join(import.meta.dirname, '..');
const readme = readFileSync(join(packageRoot, 'README.md'), 'utf8');
const examples = Array.from(readme.matchAll(/```ts\n(.*?)```/gs), ([, code]) => code!);

test.each(examples)('an example in the README runs and prints what it says', (code) => {
  // Inside the package, so that it can import itself by name.
  const program = join(packageRoot, 'test-results', 'readme.ts');
  mkdirSync(join(packageRoot, 'test-results'), { recursive: true });
  writeFileSync(program, code);
  const folder = mkdtempSync(join(tmpdir(), 'posenc readme '));
  cpSync(join(packageRoot, 'golden/models/gpt2'), join(folder, 'gpt2'), { recursive: true });
  const { stdout, stderr } = spawnSync(process.execPath, ['--conditions=posenc-source', program], {
    cwd: folder,
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  // TensorFlow.js prints a banner about itself.
  expect(stderr.replace(/^=+\nHi, .*?\n=+\n/ms, '').trim()).toBe('');
  const promised = code.split('\n').flatMap((line) => /console\.log.*; \/\/ (.*)/.exec(line)?.[1] ?? []);
  expect(promised.length).toBeGreaterThan(0);
  expect(stdout.trim().split('\n')).toEqual(promised);
});
