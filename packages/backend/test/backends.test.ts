/** Picking backends, and what is said of those that are not there. The optional packages here are stand-ins. */
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PosencError } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type BackendName,
  type BackendReport,
  backendNames,
  dataFolder,
  defaultThreads,
  probeBackends,
  useBackend,
} from '../src/index.ts';

const version = tf.version['tfjs-core'];
const start = process.cwd();
let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'posenc backends ')));
  await writeFile(join(folder, 'package-lock.json'), '{}');
  process.chdir(folder);
  process.env.POSENC_HOME = join(folder, 'home');
  await useBackend('simd');
});
afterEach(async () => {
  process.chdir(start);
  delete process.env.POSENC_HOME;
  await rm(folder, { recursive: true });
});

/** Puts a stand-in package into the folder's node_modules. */
async function standIn(name: string, manifest: object, code: string, modules = 'node_modules'): Promise<void> {
  const at = join(folder, modules, name);
  await mkdir(at, { recursive: true });
  await writeFile(join(at, 'package.json'), JSON.stringify({ name, main: 'index.cjs', ...manifest }));
  await writeFile(join(at, 'index.cjs'), code);
}

async function messageOf(name: string): Promise<string> {
  const error: unknown = await useBackend(name as BackendName).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PosencError);
  expect(tf.getBackend()).toBe('simd');
  return (error as PosencError).message;
}

test('auto is simd, and says what a run record needs', async () => {
  await useBackend('cpu');
  const info = await useBackend('auto');
  const kernels = createRequire(import.meta.url)('../../tfjs-backend-simd/package.json') as { version: string };
  expect(info).toMatchObject({ name: 'simd', version: kernels.version, threads: defaultThreads() });
  expect(['relaxed', 'plain']).toContain(info.variant);
  expect(JSON.parse(JSON.stringify(info))).toEqual(info);
  expect(tf.getBackend()).toBe('simd');
});

test.each([-1, 0, 1.5, Number.NaN, 257, 5000, 1e99])('%d threads are refused, by every backend', async (threads) => {
  for (const name of ['auto', 'simd', 'cpu', 'tensorflow'] as const) {
    const attempt = useBackend(name, { threads });
    await expect(attempt).rejects.toThrow(PosencError);
    await expect(attempt).rejects.toThrow(`threads must be a whole number from 1 to 256, not ${threads}`);
  }
});

test.each(['5000', '257', '0', '-1', 'many', '2.5', '1e2', '9'.repeat(400)])(
  'POSENC_THREADS=%s is refused',
  async (asked) => {
    process.env.POSENC_THREADS = asked;
    try {
      expect(await messageOf('simd')).toMatch(/^POSENC_THREADS must be a whole number from 1 to 256, not ".{1,60}"$/);
      expect(() => defaultThreads()).toThrow(PosencError);
    } finally {
      delete process.env.POSENC_THREADS;
    }
  },
);

test('POSENC_SIMD_WIDE that is neither 0 nor 1 is refused', async () => {
  const before = process.env.POSENC_SIMD_WIDE;
  process.env.POSENC_SIMD_WIDE = 'banana';
  try {
    expect(await messageOf('simd')).toBe('POSENC_SIMD_WIDE must be 0 or 1, not "banana"');
  } finally {
    if (before === undefined) delete process.env.POSENC_SIMD_WIDE;
    else process.env.POSENC_SIMD_WIDE = before;
  }
});

test('cpu, wasm and simd can follow each other, and tensors follow', async () => {
  const x = tf.tensor1d([1, 2]);
  for (const name of ['cpu', 'wasm', 'simd', 'cpu', 'simd', 'wasm'] as const) {
    expect((await useBackend(name)).name).toBe(name);
    expect(tf.getBackend()).toBe(name);
    expect([...tf.add(x, x).dataSync()]).toEqual([2, 4]);
  }
});

test('an unknown name is answered with the known ones', async () => {
  expect(await messageOf('wams')).toBe(
    "There is no backend 'wams'. Choose one of: auto, simd, tensorflow, tensorflow-gpu, webgpu, wasm, cpu.",
  );
});

test.each([
  ['tensorflow', '@tensorflow/tfjs-node'],
  ['tensorflow-gpu', '@tensorflow/tfjs-node-gpu'],
])(
  '%s, not installed: what is missing and where it was looked for, the command, what else is possible',
  async (name, packageName) => {
    expect(await messageOf(name)).toBe(
      `The backend '${name}' is not available: the package ${packageName} is not installed (looked for from the current directory, ` +
        `from posenc, and in ${dataFolder()}). To get it: posenc doctor --install ${name}\n` +
        "Without it: 'simd' or 'cpu' needs no installation.",
    );
  },
);

test.each([
  ['package-lock.json', 'npm install'],
  ['pnpm-lock.yaml', 'pnpm add --allow-build=webgpu'],
  ['yarn.lock', 'yarn add'],
  ['bun.lock', 'bun add'],
])('webgpu, not installed: the command is that of the project: %s', async (lock, command) => {
  await writeFile(join(folder, lock), '');
  const expected =
    "The backend 'webgpu' is not available: the packages webgpu and @tensorflow/tfjs-backend-webgpu are not installed. " +
    `To get it: ${command} webgpu @tensorflow/tfjs-backend-webgpu@${version}\n` +
    "Without it: 'simd' or 'cpu' needs no installation.";
  expect(await messageOf('webgpu')).toBe(expected);
  await mkdir(join(folder, 'deeper'));
  process.chdir('deeper');
  expect(await messageOf('webgpu')).toBe(expected);
});

test('an installation that was interrupted is said to be one', async () => {
  const at = join(folder, 'home', `tensorflow-${version}`);
  await mkdir(at, { recursive: true });
  await writeFile(join(at, 'install.json'), JSON.stringify({ way: 'wheel', parts: { packages: {} } }));
  expect(await messageOf('tensorflow')).toContain(
    `its installation in ${at} is not finished. To get it: posenc doctor --install tensorflow`,
  );
});

test('installed but does not load: the reason it gives, and the repair', async () => {
  await standIn('@tensorflow/tfjs-node', { version }, "throw new Error('tfjs_binding.node can not be found');");
  expect(await messageOf('tensorflow')).toContain(
    `@tensorflow/tfjs-node ${version} is installed but does not load (tfjs_binding.node can not be found). ` +
      'To get it: posenc doctor --install tensorflow',
  );
});

test('a package in posenc’s own folder is found', async () => {
  await symlinkTfjs();
  const at = `home/tensorflow-${version}/node_modules`;
  await standIn('@tensorflow/tfjs-node', { version }, native({ gpu: false, libtensorflow: '2.15.1' }), at);
  const reports = await probeBackends();
  expect(reports.find(({ name }) => name === 'tensorflow')).toMatchObject({
    available: true,
    variant: 'libtensorflow 2.15.1',
  });
});

test('another version than the core is refused before it is loaded', async () => {
  await standIn('@tensorflow/tfjs-node', { version: '4.17.0' }, "throw new Error('loaded');");
  expect(await messageOf('tensorflow')).toContain(
    `@tensorflow/tfjs-node 4.17.0 does not match @tensorflow/tfjs-core ${version}: the two must be of one version. ` +
      `To get it: npm install @tensorflow/tfjs-node@${version}`,
  );
});

test('webgpu without a graphics adapter', async () => {
  const code = 'exports.globals = {}; exports.create = () => ({ requestAdapter: async () => null });';
  await standIn('webgpu', { version: '0.6.2' }, code);
  expect(await messageOf('webgpu')).toContain('the package webgpu 0.6.2 loads but finds no graphics adapter');
});

test('probing reports on each backend, whatever loading it does, and changes nothing here', async () => {
  await symlinkTfjs();
  await standIn('@tensorflow/tfjs-node', { version }, native({ gpu: false, libtensorflow: '2.18.0' }));
  await standIn('@tensorflow/tfjs-node-gpu', { version }, 'process.abort();');
  await standIn('webgpu', { version: '0.6.2' }, "throw new Error('no dawn.node for this system');");
  const before = { backend: tf.getBackend(), tensors: tf.memory().numTensors };
  const reports = await probeBackends();
  expect({ backend: tf.getBackend(), tensors: tf.memory().numTensors }).toEqual(before);

  expect(reports.map(({ name }) => name)).toEqual(backendNames.slice(1));
  const byName = Object.fromEntries(reports.map((report) => [report.name, report])) as Record<string, BackendReport>;
  expect(byName.cpu).toMatchObject({ available: true, version, variant: 'javascript' });
  expect(byName.wasm).toMatchObject({ available: true, version, variant: 'simd+posenc' });
  expect(byName.tensorflow).toMatchObject({ available: true, version, variant: 'libtensorflow 2.18.0' });
  expect(byName['tensorflow-gpu']).toMatchObject({ available: false, reason: expect.stringContaining('SIGABRT') });
  expect(byName.webgpu).toMatchObject({
    available: false,
    reason: 'webgpu 0.6.2 is installed but does not load (no dawn.node for this system)',
  });
});

test('tensorflow-gpu that finds no graphics card is not passed off as one', async () => {
  await symlinkTfjs();
  await standIn('@tensorflow/tfjs-node-gpu', { version }, native({ gpu: false, libtensorflow: '2.18.0' }));
  const reports = await probeBackends();
  expect(reports.find(({ name }) => name === 'tensorflow-gpu')).toMatchObject({
    available: false,
    reason: expect.stringContaining('finds no graphics card it can use'),
  });
  expect(reports.find(({ name }) => name === 'tensorflow')).toMatchObject({
    available: false,
    command: 'posenc doctor --install tensorflow',
  });
});

test('a failed attempt leaves the backend that was there, and a process keeps to one native package', async () => {
  await symlinkTfjs();
  await standIn('@tensorflow/tfjs-node-gpu', { version }, native({ gpu: false, libtensorflow: '2.18.0' }));
  expect(await messageOf('tensorflow-gpu')).toContain('finds no graphics card it can use');
  expect(tf.findBackend('tensorflow')).toBeDefined();
  expect(await messageOf('tensorflow')).toContain("this process already uses 'tensorflow-gpu'; start another one");
});

/** The stand-ins use the same tfjs as this package. */
async function symlinkTfjs(): Promise<void> {
  const manifest = createRequire(import.meta.url).resolve('@tensorflow/tfjs/package.json');
  await mkdir(join(folder, 'node_modules/@tensorflow'), { recursive: true });
  await symlink(dirname(manifest), join(folder, 'node_modules/@tensorflow/tfjs'));
}

/** What tfjs-node does when it is loaded, as far as it is visible: it makes its backend current; and it needs removed functions. */
const native = ({ gpu, libtensorflow }: { gpu: boolean; libtensorflow: string }) => `
  const tf = require('@tensorflow/tfjs');
  const util = require('util');
  if (!util.isNullOrUndefined(null) || !util.isArray([])) throw new Error('util');
  class Native extends tf.KernelBackend {
    isUsingGpuDevice = ${gpu};
    binding = { TF_Version: '${libtensorflow}' };
  }
  tf.registerBackend('tensorflow', () => new Native(), 3);
  tf.setBackend('tensorflow');
`;
