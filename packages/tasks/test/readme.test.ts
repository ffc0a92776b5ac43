import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtInTasks } from '../src/index.ts';
import { checks, create, registry } from './lines.ts';

const packageRoot = join(import.meta.dirname, '..');
const readme = readFileSync(join(packageRoot, 'README.md'), 'utf8');
const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code!);

test('there are examples', () => expect(examples).toHaveLength(2));

test.each(examples)('an example in the README runs and prints what it says: %#', (code) => {
  // Inside the package, so that it can import itself by name.
  const program = join(packageRoot, 'test-results', 'readme.ts');
  mkdirSync(join(packageRoot, 'test-results'), { recursive: true });
  writeFileSync(program, code);
  const folder = mkdtempSync(join(tmpdir(), 'posenc readme '));
  const { stdout, stderr } = spawnSync(process.execPath, ['--conditions=posenc-source', program], {
    cwd: folder,
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  expect(stderr).toBe('');
  // What is printed stands behind the call, or below it.
  const promised = code.split('\n').flatMap((line) => /(?:console\.log.* |^)\/\/ ([^A-Z].*)/.exec(line)?.[1] ?? []);
  expect(promised.length).toBeGreaterThan(0);
  expect(stdout.trim().split('\n')).toEqual(promised);
});

test('every task has a row in the table, and its example is a line with the right answer', () => {
  const types = builtInTasks.map((plugin) => plugin.type).filter((type) => type !== 'text');
  for (const type of types) {
    const row = new RegExp(`^\\| \`${type}\` +\\| (.*?) +\\| \`(\\w+)\``, 'm').exec(readme);
    expect(row, type).not.toBeNull();
    const [, example, size] = row!;
    const config = registry.parse({ type });
    expect(config).toHaveProperty(size!);
    if (!example!.startsWith('`')) continue; // fixed-offset: words
    const line = example!.slice(1, -1) + (['addition', 'parity', 'modular-addition'].includes(type) ? '' : '\n');
    checks[type]!(line, config);
    const { tokenizer } = create(config);
    expect(tokenizer.decode(tokenizer.encode(line))).toBe(line);
  }
});
