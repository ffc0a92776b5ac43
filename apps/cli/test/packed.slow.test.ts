/**
 * What npm would get: every public package, packed, checked, installed into an empty project outside the workspace, and used
 * there on the oldest Node that it promises to run on. Needs the registry and built packages (turbo builds first).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mine } from './examples.ts';

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly engines?: { readonly node: string };
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const floor = '22.18.0';
const read = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
const folders = ['packages', 'packages/encodings', 'apps']
  .flatMap((parent) => readdirSync(join(root, parent)).map((name) => join(root, parent, name)))
  .filter((folder) => existsSync(join(folder, 'package.json')) && !read(folder).private);

const place = realpathSync(mkdtempSync(join(tmpdir(), 'posenc packed ')));
const project = join(place, 'project');
const tarballs = new Map<string, string>();

function run(command: string, args: readonly string[], cwd = project, env: NodeJS.ProcessEnv = process.env): string {
  return execFileSync(command, args, {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 1 << 28,
  });
}

/** The pinned Node binary is a package of the registry, too. */
const node = (...args: string[]) =>
  run(join(project, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node'), args);

beforeAll(() => {
  for (const folder of folders) {
    const printed = run(join(root, 'node_modules', '.bin', 'pnpm'), ['pack', '--pack-destination', place], folder);
    tarballs.set(
      read(folder).name,
      join(
        place,
        printed
          .trim()
          .split('\n')
          .findLast((line) => line.endsWith('.tgz'))!
          .split('/')
          .at(-1)!,
      ),
    );
  }
}, 600_000);
afterAll(() => rmSync(place, { recursive: true, force: true }), 600_000);

describe.each(folders.map((folder) => [read(folder).name, folder] as const))('%s', (name, folder) => {
  it('has correct exports and types, a README, a licence, and the promised floor', async () => {
    const data = new Uint8Array(readFileSync(tarballs.get(name)!));
    const { messages, pkg } = await publint({ pack: { tarball: data.buffer as ArrayBuffer } });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
    const analysis = await checkPackage(createPackageFromTarballData(data));
    // ESM only, on purpose: require() of it works on every Node that the engines field allows.
    const problems = analysis.types ? analysis.problems.filter(({ kind }) => kind !== 'CJSResolvesToESM') : [];
    const modern = problems.filter((p) => !('resolutionKind' in p) || p.resolutionKind !== 'node10');
    expect(modern).toEqual([]);
    expect(analysis.types).toMatchObject({ kind: 'included' });

    const manifest = read(folder);
    expect(manifest.engines).toEqual({ node: '>=22.18' });
    for (const [peer, range] of Object.entries(manifest.peerDependencies ?? {}))
      if (peer.startsWith('@tensorflow/')) expect([peer, range]).toEqual([peer, '^4.22.0']);
    for (const file of ['README.md', 'LICENSE'])
      expect([name, file, existsSync(join(folder, file))]).toEqual([name, file, true]);
  });
});

describe('an empty project', () => {
  beforeAll(() => {
    const tfjs = '^4.22.0';
    const dependencies = Object.fromEntries([...tarballs].map(([name, path]) => [name, `file:${path}`]));
    const manifest = {
      name: 'project',
      private: true,
      type: 'module',
      dependencies: {
        ...dependencies,
        '@tensorflow/tfjs': tfjs,
        '@tensorflow/tfjs-core': tfjs,
        [`node-${process.platform}-${process.arch}`]: floor,
      },
      devDependencies: { typescript: '^7.0.2', '@types/node': '^22.0.0' },
    };
    execFileSync('mkdir', [project]);
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
    run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']);
    writeFileSync(join(project, 'mine.ts'), mine);
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          module: 'nodenext',
          target: 'es2024',
          strict: true,
          skipLibCheck: true,
          noEmit: true,
          allowImportingTsExtensions: true,
          types: ['node'],
        },
      }),
    );
    writeFileSync(
      join(project, 'use.ts'),
      `import { useBackend } from '@posenc/backend';
import { createRegistry, createTransformer, dimsOf, resolveModel } from '@posenc/core';
import { rope } from '@posenc/rope';
import { textTask } from '@posenc/tasks';
import { lawsFor } from '@posenc/testkit';
import { startSession, trainingSchema, trainStep } from '@posenc/training';
import { mine } from './mine.ts';

await useBackend('simd');
for (const law of lawsFor(mine, [{}, { strength: 2 }])) await law.run();

const registry = createRegistry([mine, rope]);
const task = textTask('the quick brown fox jumps over the lazy dog '.repeat(20));
const model = resolveModel({ vocabSize: task.tokenizer.vocabulary.length, modelDim: 16, numLayers: 1, numHeads: 2 });
const config = trainingSchema.parse({ length: 16, steps: 2, batchSize: 2 });
const session = startSession(createTransformer(model, registry.create(registry.parse({ type: 'log-distance' }), dimsOf(model))), config, 1);
const { loss } = await trainStep(session, task, config, 1);
console.log(process.version, loss.toFixed(2));
`,
    );
  }, 600_000);

  it('type-checks against the packed types', () => {
    expect(run(join(project, 'node_modules', '.bin', 'tsc'), ['-p', '.'])).toBe('');
  });

  it(`runs the laws on an encoding of its own and trains a step, on Node ${floor}`, () => {
    expect(node('use.ts').trim()).toMatch(/^v22\.18\.0 \d\.\d\d$/);
  });

  it('starts an encoding that passes the kit on every backend that comes along', () => {
    const main = join(project, 'node_modules', 'posenc', 'dist', 'main.js');
    const { source, next } = JSON.parse(node(main, 'new', 'nearest-first', '--json'));
    expect(next[0].command).toBe('node --test nearest-first.test.ts'); // nothing is left to install
    expect(run(join(project, 'node_modules', '.bin', 'tsc'), ['-p', '.'])).toBe('');
    const laws = node('--test', '--test-reporter=tap', 'nearest-first.test.ts');
    expect(laws).toMatch(/^# pass [789]\d$/m);
    expect(laws).toContain('# fail 0');
    expect(node(main, 'inspect', `./${source}`)).toContain('logStrength');
  });

  it('has a command line that compares, with that encoding', () => {
    const main = join(project, 'node_modules', 'posenc', 'dist', 'main.js');
    expect(node(main, '--version').trim()).toBe(
      JSON.parse(readFileSync(join(root, 'apps/cli/package.json'), 'utf8')).version,
    );
    writeFileSync(join(project, 'verse.txt'), 'shall i compare thee to a summers day\n'.repeat(40));
    const suite = {
      name: 'tiny',
      task: { type: 'text', file: 'verse.txt' },
      model: { modelDim: 16, numLayers: 1, numHeads: 2 },
      training: { length: 16, batchSize: 4, steps: 5 },
      evaluation: { multiples: [1, 2], windows: 4 },
      encodings: [{ encoding: { type: 'rope' } }, { encoding: { type: 'log-distance' } }],
    };
    writeFileSync(join(project, 'suite.json'), JSON.stringify(suite));
    const printed = node(main, 'compare', 'suite.json', '--plugin', './mine.ts');
    expect(printed).toContain('log-distance');
    expect(existsSync(join(project, 'runs', 'tiny', 'report.html'))).toBe(true);
  });
});
