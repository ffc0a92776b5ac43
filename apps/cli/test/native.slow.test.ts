/**
 * The backends that are more than npm packages, each where this machine has what it needs, else a skip that says what is
 * missing: `tensorflow` is installed here from nothing, and killed at each step on the way.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installNative, type NativeName, planInstall } from '@posenc/backend';
import { toleranceOf } from '@posenc/testkit';
import type { Comparison } from '@posenc/training';
import * as tf from '@tensorflow/tfjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quickSizes, type StepSizes, standardSizes, writeProblem } from '../src/bench/problem.ts';
import { program } from './cli.ts';
import { suite } from './trials-harness.ts';

const temporary = mkdtempSync(join(tmpdir(), 'posenc native '));
const home = join(temporary, 'home');
afterAll(() => rmSync(temporary, { recursive: true, force: true, maxRetries: 5 }), 300_000); // gigabytes

type Env = Readonly<Record<string, string | undefined>>;

/** Runs a program of ./native, or posenc itself, in a folder; its standard output. */
function node(args: readonly string[], { cwd = temporary, env = {} }: { cwd?: string; env?: Env } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args], {
    cwd,
    env: { ...process.env, POSENC_HOME: home, ...env },
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  expect(status, stderr).toBe(0);
  return { stdout, stderr };
}

const native = (file: string) => [
  '--conditions=posenc-source',
  fileURLToPath(new URL(`./native/${file}`, import.meta.url)),
];

interface Laws {
  readonly encodings: number;
  readonly laws: number;
  readonly broken: readonly object[];
}
const lawsOn = (backend: string, law: string | undefined, where = {}): Laws =>
  JSON.parse(node([...native('laws-program.ts'), backend, ...(law ? [law] : [])], where).stdout) as Laws;

/** Losses of 20 steps of the same training. */
function lossesOn(backend: string, sizes: StepSizes, where = {}): number[] {
  const folder = mkdtempSync(join(temporary, 'problem-'));
  writeProblem(folder, sizes);
  const { stdout } = node([...native('losses-program.ts'), folder, backend], where);
  return (JSON.parse(stdout) as { losses: number[] }).losses;
}

/** The first loss and the one after 20 steps are those of simd. In between Adam makes a whole step of a gradient's rounding near zero. */
function expectSameTraining(backend: 'tensorflow' | 'tensorflow-gpu' | 'webgpu', sizes: StepSizes, where = {}): void {
  const [expected, losses] = [lossesOn('simd', sizes), lossesOn(backend, sizes, where)];
  expect(losses).toHaveLength(20);
  expect(losses[19]!).toBeLessThan(losses[0]!);
  for (const step of [0, 19])
    expect(Math.abs(losses[step]! - expected[step]!), `loss ${step + 1}`).toBeLessThan(toleranceOf(backend));
}

/** A comparison of two tiny trainings runs, records the backend, and gives about what simd gives. */
function expectSameComparison(backend: NativeName): void {
  const losses = ['simd', backend].map((name) => {
    const folder = mkdtempSync(join(temporary, 'compare-'));
    writeFileSync(join(folder, 'verse.txt'), 'shall i compare thee to a summers day thou art more lovely\n'.repeat(40));
    writeFileSync(join(folder, 'suite.json'), JSON.stringify(suite));
    const { stdout } = node([...program, 'compare', 'suite.json', '--backend', name, '--json'], { cwd: folder });
    const { trials, environment } = JSON.parse(stdout) as Comparison;
    expect(environment.backend).toMatch(new RegExp(`^${name} `));
    return trials.map(({ evaluations }) => evaluations[0]!.lengths[0]!.score!.loss);
  });
  losses[0]!.forEach((loss, i) => {
    expect(Math.abs(loss - losses[1]![i]!)).toBeLessThan(1e-3);
  });
}

const lacking = (name: NativeName): string =>
  planInstall(name, { home })
    .requirements.filter(({ found }) => found === undefined)
    .map(({ what, reason }) => `${what}: ${reason}`)
    .join('; ');
const title = (name: string, reason: string) => (reason ? `${name} (skipped: ${reason})` : name);

const noTensorFlow = lacking('tensorflow');
describe.skipIf(noTensorFlow)(title('tensorflow', noTensorFlow), () => {
  const folder = join(home, `tensorflow-${tf.version['tfjs-core']}`);
  const install = ['doctor', '--install', 'tensorflow'];

  it('is installed from nothing, whatever moment the process is killed at, and found again', async () => {
    const elsewhere = mkdtempSync(join(temporary, 'tmp-'));
    const env = { ...process.env, POSENC_HOME: home, TMPDIR: elsewhere };
    const titles = planInstall('tensorflow', { home }).steps.map((step) => step.title);
    for (const step of titles) await killedIn(step, env);
    const { stdout, stderr } = node([...program, ...install], { env });
    expect(stdout).toContain('tensorflow is installed and works: native TensorFlow');
    expect(stdout.match(/^ {4}sha(256|512)-\S+ {2}\S+$/gm)!.length).toBeGreaterThanOrEqual(3);
    if (stdout.includes('a build against'))
      expect(stderr).toContain('✓ unpack the C library and its headers: done before');
    expect(readdirSync(folder).filter((file) => /^(cache|wheels|work|install\.lock)/.test(file))).toEqual([]);
    expect(readdirSync(elsewhere)).toEqual([]);

    const again = node([...program, ...install, '--json'], { env });
    const found = JSON.parse(again.stdout) as { found: boolean; checksums: object };
    expect(found).toMatchObject({ found: true, backend: { name: 'tensorflow' } });
    expect(again.stderr.match(/done before/g)!.length).toBe(Object.keys(record().parts).length);
  });

  it('a file that has changed is noticed, and made again', async () => {
    const file = Object.values(record().parts)
      .flatMap(({ files }) => Object.keys(files))
      .find((path) => path.endsWith('.node'))!;
    writeFileSync(join(folder, file), 'not a library');
    const result = await installNative('tensorflow', { home });
    expect(result.found).toBe(false);
    expect(readFileSync(join(folder, file)).length).toBeGreaterThan(10_000);
  });

  const record = () =>
    JSON.parse(readFileSync(join(folder, 'install.json'), 'utf8')) as { parts: Record<string, { files: object }> };

  /** Starts it, and kills the whole group half a second into a step, if it comes to that step. */
  async function killedIn(step: string, env: Env): Promise<void> {
    const child = spawn(process.execPath, [...program, ...install], {
      env,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let heard = '';
    child.stderr.on('data', (chunk) => {
      const before = heard.includes(`… ${step}\n`);
      heard += chunk;
      if (!before && heard.includes(`… ${step}\n`)) setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), 500);
    });
    await new Promise((done) => child.once('close', done));
  }

  it('every law of the testkit holds for every built-in encoding', () => {
    const { encodings, laws, broken } = lawsOn('tensorflow', undefined);
    expect(broken).toEqual([]);
    expect(laws).toBeGreaterThan(20 * encodings);
  });

  it('20 standard steps end at the loss of simd', () => expectSameTraining('tensorflow', standardSizes));

  it('a comparison runs on it', () => expectSameComparison('tensorflow'));

  it('auto measures it, keeps the measurement, and says what it chose', () => {
    const first = node([...program, 'doctor', '--json']);
    const { choice } = JSON.parse(first.stdout) as {
      choice: { measured: { name: string }[]; date: string; reason: string };
    };
    expect(choice.measured.map(({ name }) => name)).toEqual(['simd', 'tensorflow']);
    expect(choice.reason).toMatch(/^auto is (simd|tensorflow): /);
    const second = JSON.parse(node([...program, 'doctor', '--json']).stdout) as typeof first & { choice: object };
    expect(second.choice).toEqual(choice);
  });
});

const noCuda = lacking('tensorflow-gpu');
describe.skipIf(noCuda)(title('tensorflow-gpu', noCuda), () => {
  beforeAll(async () => {
    await installNative('tensorflow-gpu', { home });
  }, 1_800_000);
  it('every law of the testkit holds for every built-in encoding', () => {
    expect(lawsOn('tensorflow-gpu', undefined).broken).toEqual([]);
  });
  it('20 standard steps end at the loss of simd', () => expectSameTraining('tensorflow-gpu', standardSizes));
  it('a comparison runs on it', () => expectSameComparison('tensorflow-gpu'));
});

/** A Vulkan device: the system's, or the one in software that comes with Chromium on Debian. */
function vulkan(): Env | undefined {
  const software = '/usr/lib/chromium/vk_swiftshader_icd.json';
  const drivers = '/usr/share/vulkan/icd.d';
  if (process.env.VK_ICD_FILENAMES || (existsSync(drivers) && readdirSync(drivers).length > 0)) return {};
  if (!existsSync(software)) return undefined;
  const libraries = ['/usr/lib/chromium', process.env.LD_LIBRARY_PATH].filter(Boolean).join(delimiter);
  return { VK_ICD_FILENAMES: software, LD_LIBRARY_PATH: libraries, XDG_RUNTIME_DIR: temporary };
}

const device = vulkan();
const noVulkan = device ? '' : 'no Vulkan device: no driver in /usr/share/vulkan/icd.d, no Chromium with SwiftShader';
describe.skipIf(noVulkan)(title('webgpu', noVulkan), () => {
  const folder = mkdtempSync(join(temporary, 'webgpu-'));
  const where = { cwd: folder, env: device };
  beforeAll(() => {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const packages = ['webgpu', `@tensorflow/tfjs-backend-webgpu@${tf.version['tfjs-core']}`];
    const cache = join(folder, 'cache');
    const args = ['install', '--no-audit', '--no-fund', '--legacy-peer-deps', '--cache', cache, ...packages];
    const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
    expect(status, stderr).toBe(0);
  }, 300_000);

  it('gives the logits and the gradients of simd for every built-in encoding', () => {
    const { encodings, laws, broken } = lawsOn('webgpu', 'backend agreement', where);
    expect(broken).toEqual([]);
    expect(laws).toBeGreaterThanOrEqual(encodings);
  });

  it('20 steps end at the loss of simd (one small layer: it may be a processor)', () =>
    expectSameTraining('webgpu', { ...quickSizes, numLayers: 1 }, where));
});
