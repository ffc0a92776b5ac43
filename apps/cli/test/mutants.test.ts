/** 2,000 mutated configs and suites: no crash, no hang, and one clear message for every one that is refused. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countParams } from '@posenc/core';
import { builtInTasks, createTaskRegistry } from '@posenc/tasks';
import { type Environment, parseRun, parseSuite, planRun, trialModel, trialsOf } from '@posenc/training';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { loadRegistry } from '../src/config/encoding.ts';
import { parseJson } from '../src/config/json.ts';
import { registryWith } from '../src/encodings.ts';
import { isMistake } from '../src/exit.ts';
import { withNamed } from '../src/plugins/named.ts';
import { cli, folder, removeFolders } from './cli.ts';
import { mutants } from './mutants.ts';

afterAll(removeFolders);

/** Milliseconds that no case may take, on a machine with other work to do. */
const patience = 20_000;
const longestMessage = 4000;

const registry = registryWith();
const leaves = registry.plugins.map(({ type }) => registry.parse({ type }));
const configs: object[] = [
  ...leaves,
  ...leaves.map(({ type }) => ({ type })),
  { type: 'compose', of: leaves.slice(0, 3) },
  { type: 'perLayer', of: [{ type: 'rope' }, { type: 'nope' }], pattern: [0, 0, 0, 1] },
  { type: 'compose', of: [{ type: 'perLayer', of: [{ type: 'alibi' }, { type: 't5' }], pattern: [0, 1] }] },
  ...['linear', 'ntk', 'dynamic', 'yarn', 'llama3'].map((type) => ({
    type: 'rope',
    base: 10000,
    scaling: { type, factor: 4, originalMaxPositionEmbeddings: 64 },
  })),
];

/** Refused as it should be: one message, in words, that ends. */
function expectMessage(message: string): void {
  expect(message.trim().length).toBeGreaterThan(10);
  expect(message.length).toBeLessThan(longestMessage);
  expect(message).not.toMatch(/^ +at /m);
}

describe('mutated configs', () => {
  it('inspect shows them, or refuses them in one message', { timeout: 600_000 }, async () => {
    const cwd = folder();
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(mutants(configs), async (text) => {
        const started = performance.now();
        const { code, out, err } = await cli(['inspect', '-', '--positions', '8'], { cwd, stdin: text });
        expect(performance.now() - started).toBeLessThan(patience);
        if (code === 0) {
          expect(err).toBe('');
          return;
        }
        refused++;
        expect({ code, out }).toEqual({ code: 1, out: '' });
        expect(err).toMatch(/^error: /);
        expectMessage(err.slice('error: '.length));
      }),
      { numRuns: 1000, seed: 1 },
    );
    expect(refused).toBeGreaterThan(500);
  });
});

describe('mutated suites and runs', () => {
  it('are planned, or refused in one message', { timeout: 600_000 }, async () => {
    const cwd = fileURLToPath(new URL('../suites', import.meta.url));
    const suites = readdirSync(cwd).map((name) => JSON.parse(readFileSync(join(cwd, name), 'utf8')) as object);
    const run = {
      task: { type: 'copy' },
      model: { modelDim: 32, numLayers: 2, numHeads: 2 },
      training: { length: 32, steps: 5 },
      encoding: { type: 'rope' },
      seed: 2,
    };
    const out = folder();
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(mutants([...suites, ...suites, run]), async (text) => {
        const started = performance.now();
        try {
          await plan(text, cwd, out);
        } catch (error) {
          if (!isMistake(error)) throw error;
          refused++;
          expectMessage(error.message);
        }
        expect(performance.now() - started).toBeLessThan(patience);
      }),
      { numRuns: 1000, seed: 2 },
    );
    expect(refused).toBeGreaterThan(300);
  });

  /** What `compare --dry-run` and `train` do until they compute. */
  async function plan(text: string, cwd: string, out: string): Promise<void> {
    const value = parseJson(text, 'suite.json');
    const parse = value !== null && typeof value === 'object' && 'encodings' in value ? parseSuite : parseRun;
    const suite = parse(value, 'suite.json', cwd);
    const { registry: encodings } = await loadRegistry(await withNamed([], suite, { cwd }), { cwd });
    const environment: Environment = {
      encodings,
      tasks: createTaskRegistry(builtInTasks),
      runtime: { backend: 'none', version: '1', variant: 'none', threads: 1, processor: 'none' },
      versions: {},
    };
    const task = environment.tasks.create(suite.task);
    const { trials } = planRun(out, trialsOf(suite, task, environment), task, environment);
    for (const { spec } of trials) expect(countParams(trialModel(spec, task, environment).params)).toBeGreaterThan(0);
  }
});

describe('mutated encodings on the command line of other commands', () => {
  it('eval and compare refuse them as files', async () => {
    const cwd = folder();
    const texts = fc.sample(mutants(configs), { numRuns: 50, seed: 3 });
    for (const text of texts) {
      writeFileSync(join(cwd, 'suite.json'), text);
      const { code, out, err } = await cli(['compare', 'suite.json', '--dry-run'], { cwd });
      expect({ code, out, err }).toEqual({ code: 1, out: '', err: expect.stringMatching(/^error: /) });
      expectMessage(err);
    }
  });
});
