/** `posenc new`: alone in a folder, and as a package of a clone that consists of what matters here. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { longestName, namesOf } from '../src/new/names.ts';
import { cli, folder, type Result, removeFolders } from './cli.ts';

afterAll(removeFolders);

const root = fileURLToPath(new URL('../../..', import.meta.url));
const json = ({ code, out, err }: Result) => {
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
};
const run = (command: string, args: readonly string[], cwd: string) => {
  const { status, stdout, stderr } = spawnSync(join(root, 'node_modules', '.bin', command), args, {
    cwd,
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
};

describe('names', () => {
  it('for configs, code and prose', () => {
    expect(namesOf('log-distance')).toEqual({
      type: 'log-distance',
      constant: 'logDistance',
      pascal: 'LogDistance',
      title: 'Log distance',
    });
    expect(namesOf('rope-2d').constant).toBe('rope2d');
  });

  it.each([
    ['LogDistance', /lower-case words .*; for example log-distance$/],
    ['my_encoding!', /for example my-encoding$/],
    ['../evil', /for example evil$/],
    ['2d', /the first letter a letter; for example d$/],
    ['-', /the first letter a letter$/],
    ['', /the first letter a letter$/],
    ['a--b', /single hyphens.*; for example a-b$/],
    ['@posenc/mine', /for example posenc-mine$/],
    ['a'.repeat(longestName + 1), /it has 33 characters, and 32 are allowed/],
    ['rope', /posenc brings an encoding of that name/],
    ['per-layer', /posenc brings an encoding of that name/],
    ['default', /it is a word of JavaScript/],
    ['define-encoding', /the code it would start with uses the word defineEncoding/],
    ['created', /the code it would start with uses the word created/],
  ])('"%s" is refused', async (name, message) => {
    const cwd = folder();
    const { code, out, err } = await cli(['new', '--', name], { cwd });
    expect({ code, out, files: readdirSync(cwd) }).toEqual({ code: 1, out: '', files: [] });
    expect(err.trimEnd()).toMatch(message);
  });
});

describe('anywhere', () => {
  it('one file, one test and a package.json that has all they need', async () => {
    const cwd = folder();
    const made = json(await cli(['new', 'log-distance', '--json'], { cwd }));
    expect(made).toMatchObject({ type: 'log-distance', package: null, source: 'log-distance.ts' });
    expect(made.files).toEqual(['log-distance.ts', 'log-distance.test.ts', 'package.json']);
    expect(readdirSync(cwd).sort()).toEqual([...made.files].sort());
    expect(made.next.map((step: { command: string }) => step.command)).toEqual([
      'npm install',
      'node --test log-distance.test.ts',
      'npx posenc inspect ./log-distance.ts --out pictures',
      'npx posenc compare suite.json --plugin ./log-distance.ts',
    ]);
    const { type, scripts, dependencies, devDependencies } = JSON.parse(
      readFileSync(join(cwd, 'package.json'), 'utf8'),
    );
    expect({ type, scripts }).toEqual({ type: 'module', scripts: { test: 'node --test log-distance.test.ts' } });
    const imports = ['log-distance.ts', 'log-distance.test.ts']
      .flatMap((name) =>
        [...readFileSync(join(cwd, name), 'utf8').matchAll(/from '([^'.]+)'/g)].map(([, from]) => from!),
      )
      .filter((name) => !name.startsWith('node:'));
    expect([...new Set(imports)].sort()).toEqual(Object.keys({ ...dependencies, ...devDependencies }).sort());
    for (const range of Object.values({ ...dependencies, ...devDependencies }))
      expect(range).toMatch(/^\^\d+\.\d+\.\d+$/);

    expect(json(await cli(['inspect', './log-distance.ts', '--json'], { cwd })).parameters).toEqual({
      count: 4,
      tensors: [expect.objectContaining({ name: 'logStrength', shape: [4] })],
    });
  });

  it('says what a project lacks, and where its .js is not ESM, writes .mts', async () => {
    const cwd = folder({
      'package.json': '{"dependencies":{"@posenc/core":"*"},"devDependencies":{"@posenc/testkit":"*"}}',
    });
    mkdirSync(join(cwd, 'my encodings'));
    const before = readFileSync(join(cwd, 'package.json'), 'utf8');
    const { next, files } = json(await cli(['new', 'mine', '--out', 'my encodings', '--json'], { cwd }));
    expect(files).toEqual(['my encodings/mine.mts', 'my encodings/mine.test.mts']);
    expect(next.slice(0, 3).map((step: { command: string }) => step.command)).toEqual([
      expect.stringMatching(/^npm install @tensorflow\/tfjs@\^4\.\d+\.\d+$/),
      expect.stringMatching(/^npm install --save-dev @posenc\/backend@\^\d+\.\d+\.\d+$/),
      "node --test 'my encodings/mine.test.mts'",
    ]);
    expect(readFileSync(join(cwd, 'my encodings/mine.test.mts'), 'utf8')).toContain("from './mine.mts'");
    expect(readFileSync(join(cwd, 'package.json'), 'utf8')).toBe(before);
  });

  it('never overwrites, and leaves nothing half done', async () => {
    const cwd = folder({ 'mine.test.ts': 'precious', 'package.json': '{"type":"module"}', file: '' });
    const { code, err } = await cli(['new', 'mine'], { cwd });
    expect([code, err]).toEqual([
      1,
      'error: mine.test.ts would be overwritten: choose another name, or move what is there\n',
    ]);
    expect(readFileSync(join(cwd, 'mine.test.ts'), 'utf8')).toBe('precious');
    expect(existsSync(join(cwd, 'mine.ts'))).toBe(false);
    expect((await cli(['new', 'other', '--out', 'file'], { cwd })).err).toMatch(
      /cannot write into "file": something of that name is in the way/,
    );
    expect((await cli(['new', 'other'], { cwd: folder({ 'package.json': '{"type":1' }) })).err).toMatch(
      /package\.json:1:10/,
    );
  });
});

describe('in a clone', () => {
  const clone = folder();
  const copy = (path: string) => cpSync(join(root, path), join(clone, path), { recursive: true });
  const link = (path: string, to = path) => symlinkSync(join(root, to), join(clone, path));
  for (const name of [
    'package.json',
    'pnpm-workspace.yaml',
    'tsconfig.base.json',
    'vitest.shared.ts',
    'readme.shared.ts',
    'biome.json',
    '.gitignore',
  ])
    copy(name);
  for (const name of ['src', 'templates', 'package.json']) copy(join('apps/cli', name));
  for (const name of ['cli.ts', 'batch.ts']) copy(join('apps/cli/test', name));
  for (const name of [
    'LICENSE',
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'vitest.config.ts',
    'test/readme.test.ts',
  ])
    copy(join('packages/encodings/nope', name));
  link('node_modules');
  link('apps/cli/node_modules');
  mkdirSync(join(clone, '.git'));

  /** The clone's own posenc, in one process. */
  const posenc = (...lines: string[][]): Result[] => {
    const batch = join(clone, 'apps/cli/test/batch.ts');
    const input = JSON.stringify(lines);
    const { stdout } = spawnSync(process.execPath, ['--conditions=posenc-source', batch], {
      cwd: clone,
      input,
      encoding: 'utf8',
    });
    return JSON.parse(stdout) as Result[];
  };
  const own = 'packages/encodings/log-distance';
  const install = (path: string) => link(join(path, 'node_modules'), 'packages/encodings/alibi/node_modules');

  it('a package like its siblings, and a changeset, never over anything', () => {
    const [made, again, taken] = posenc(['new', 'log-distance', '--json'], ['new', 'log-distance'], ['new', 'nope']);
    const { files, ...rest } = json(made!);
    expect(rest).toMatchObject({ package: '@posenc/log-distance', source: join(own, 'src/log-distance.ts') });
    for (const file of files) expect([file, existsSync(join(clone, file))]).toEqual([file, true]);
    expect(readFileSync(join(clone, '.changeset/log-distance.md'), 'utf8')).toMatch(
      /^---\n"@posenc\/log-distance": minor\n---\n\nLog distance, /,
    );
    expect(again).toMatchObject({ code: 1, err: `error: "log-distance" is taken by ${own}: choose another name\n` });
    expect(taken!.code).toBe(1);
    const manifest = (path: string) => JSON.parse(readFileSync(join(clone, path, 'package.json'), 'utf8'));
    const { name, description, keywords, ...settings } = manifest(own);
    const { name: _, description: __, keywords: ___, ...siblings } = manifest('packages/encodings/nope');
    expect(name).toBe('@posenc/log-distance');
    expect(settings).toEqual(siblings);
    expect([...keywords, description].join(' ')).not.toMatch(/nope/i);
  });

  it('is known by name, by package and by path, without an edit anywhere', () => {
    const task = { type: 'text', file: 'verse.txt' };
    const suite = {
      name: 'named',
      task,
      model: { modelDim: 16, numLayers: 1, numHeads: 2 },
      training: { length: 16, batchSize: 4, steps: 1 },
      encodings: [
        { encoding: { type: 'nope' } },
        { encoding: { type: 'perLayer', of: [{ type: 'log-distance', unit: 2 }], pattern: [0] } },
      ],
    };
    writeFileSync(join(clone, 'verse.txt'), 'shall i compare thee to a summers day\n'.repeat(60));
    writeFileSync(join(clone, 'suite.json'), JSON.stringify(suite));
    const results = posenc(
      ['list', '--json'],
      ['inspect', 'log-distance', '--json'],
      ['inspect', '{"type":"log-distance","unit":3}', '--json'],
      ['inspect', '@posenc/log-distance', '--json'],
      ['inspect', `${own}/src/log-distance.ts`, '--json'],
      ['inspect', 'log-distance', '--plugin', `${own}/src/log-distance.ts`, '--json'],
      ['compare', 'suite.json', '--dry-run', '--json'],
    );
    const [list, ...others] = results.map(json);
    expect(list.broken).toEqual([]);
    expect(list.encodings.at(-1)).toMatchObject({ type: 'log-distance', holes: ['relativeBias'], parameters: 4 });
    expect(others.map((one) => one.config ?? one.trials?.length)).toEqual([
      { type: 'log-distance', unit: 1 },
      { type: 'log-distance', unit: 3 },
      { type: 'log-distance', unit: 1 },
      { type: 'log-distance', unit: 1 },
      { type: 'log-distance', unit: 1 },
      2,
    ]);
  });

  it('type-checks, obeys the laws, has its golden values, and a README that runs; a slow test runs them on cpu too', () => {
    install(own);
    expect(run('tsc', ['-p', '.'], join(clone, own))).toEqual({ status: 0, output: '' });
    run('vitest', ['run', '-t', '^(?!laws on cpu)'], join(clone, own));
    const report = JSON.parse(readFileSync(join(clone, own, 'test-results/fast.json'), 'utf8'));
    expect([report.success, report.numFailedTests]).toEqual([true, 0]);
    expect(report.numPassedTests).toBeGreaterThan(40);
  });

  it('is written as the house writes, whatever its name', () => {
    const names = ['ab', `${'x'.repeat(15)}-${'y'.repeat(longestName - 16)}`];
    for (const result of posenc(...names.map((name) => ['new', name]))) expect(result.code).toBe(0);
    const folders = ['log-distance', ...names].map((name) => join('packages/encodings', name));
    const { status, output } = run('biome', ['check', ...folders], clone);
    expect([status, output]).toEqual([0, expect.stringMatching(/^Checked \d\d files/m)]);
    for (const path of folders)
      for (const name of readdirSync(join(clone, path, 'src')))
        expect(readFileSync(join(clone, path, 'src', name), 'utf8')).not.toMatch(/my.?encoding/i);
  });

  it('a package that cannot be loaded is shown as such, and hides no other', () => {
    const broken = join(clone, 'packages/encodings/ab/src/index.ts');
    expect(dirname(broken)).toContain('/ab/');
    writeFileSync(broken, 'export const = 3;');
    const [list, shown] = posenc(['list', '--json'], ['list']);
    expect(json(list!).broken).toEqual([{ package: '@posenc/ab', reason: expect.stringContaining('SyntaxError') }]);
    expect(json(list!).encodings.map(({ type }: { type: string }) => type)).toContain('log-distance');
    expect(shown!.out).toMatch(/^Not listed: @posenc\/ab\n {2}cannot load the package/m);
  });
});
