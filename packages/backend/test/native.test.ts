/** Installing native backends, as far as it goes without installing: requirements, records, the lock; and what auto makes of measurements. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chooseAuto, decide } from '../src/auto.ts';
import { dataFolder, nativeFolder } from '../src/native/folder.ts';
import { installNative, planInstall } from '../src/native/install.ts';
import { damaged, readRecord, sha256, writeRecord } from '../src/native/record.ts';
import { buildRequirements, missing } from '../src/native/requirements.ts';
import type { Sample } from '../src/sample.ts';

const start = process.cwd();
let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'posenc native ')));
  process.env.POSENC_HOME = join(folder, 'home');
});
afterEach(() => {
  process.chdir(start);
  delete process.env.POSENC_HOME;
  rmSync(folder, { recursive: true, force: true });
});

/** A folder of programs that are nothing but what they print, to be the whole PATH. */
function programs(scripts: Readonly<Record<string, string>>): string {
  const path = join(folder, 'bin');
  mkdirSync(path, { recursive: true });
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(path, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(path, name), 0o755);
  }
  return path;
}

describe('the data folder', () => {
  test('is POSENC_HOME, else in XDG_DATA_HOME, else in the home folder', () => {
    expect(dataFolder({ POSENC_HOME: '/a', XDG_DATA_HOME: '/b' })).toBe('/a');
    expect(dataFolder({ XDG_DATA_HOME: '/b' })).toBe(join('/b', 'posenc'));
    expect(dataFolder({})).toMatch(/posenc$/);
    expect(nativeFolder('tensorflow-gpu', '/a')).toBe(join('/a', 'tensorflow-gpu-4.22.0'));
  });
});

describe('requirements', () => {
  test('each missing tool is named with the command that gets it', () => {
    const PATH = programs({ 'apt-get': 'exit 0' });
    const sudo = process.getuid?.() === 0 ? '' : 'sudo ';
    const lacking = missing(buildRequirements({ PATH })).filter(({ what }) => !what.startsWith('Linux'));
    expect(lacking).toEqual([
      { what: 'Python 3', reason: 'not found', command: `${sudo}apt-get install -y python3` },
      { what: 'pip', reason: 'not found', command: `${sudo}apt-get install -y python3-pip` },
      { what: 'a C++17 compiler', reason: 'not found', command: `${sudo}apt-get install -y g++` },
    ]);
  });

  test('a Python without pip, and a compiler that compiles nothing', () => {
    const PATH = programs({
      dnf: 'exit 0',
      python3: 'case "$*" in *platform*) echo 3.12.1;; *) echo no module named pip >&2; exit 1;; esac',
      'g++': 'exit 1',
    });
    const lacking = missing(buildRequirements({ PATH })).map(({ command }) => command);
    expect(lacking).toEqual([
      expect.stringContaining('dnf install -y python3-pip'),
      expect.stringContaining('dnf install -y gcc-c++'),
    ]);
  });

  test('where the system’s packages are unknown there is no command, but a reason', () => {
    for (const { reason, command } of missing(buildRequirements({ PATH: folder }))) {
      expect(reason).toBeTruthy();
      expect(command).toBeUndefined();
    }
  });

  test('without npm nothing is begun, and the message says what is missing', async () => {
    const PATH = programs({ 'apt-get': 'exit 0' });
    await expect(installNative('tensorflow', { env: { PATH } })).rejects.toThrow(
      /'tensorflow' cannot be installed here: this is missing\n {2}npm: not found\. To get it: (sudo )?apt-get install -y npm$/,
    );
  });

  test('where the download fails and nothing can be built, both are said; the next run tries the download again', async () => {
    const PATH = programs({
      'apt-get': 'exit 0',
      npm: '[ "$1" = --version ] && echo 10 && exit; echo npm error ENOTFOUND the host >&2; exit 1',
    });
    for (let i = 0; i < 2; i++)
      await expect(installNative('tensorflow', { env: { PATH } })).rejects.toThrow(
        /npm’s own download did not work \(.*ENOTFOUND the host\), and building it needs more than there is\n(.*\n)*.*Python 3: not found/,
      );
    expect(existsSync(join(nativeFolder('tensorflow'), 'install.lock'))).toBe(false);
  });

  test('a graphics card is asked for before gigabytes are downloaded', async () => {
    const PATH = programs({ npm: 'echo 10' });
    await expect(installNative('tensorflow-gpu', { env: { PATH } })).rejects.toThrow(
      'an NVIDIA graphics card and its driver: there is no nvidia-smi: the driver is not installed',
    );
  });
});

describe('an installation', () => {
  test('is not begun where another process is at it; a dead one leaves no lock', async () => {
    const at = nativeFolder('tensorflow');
    mkdirSync(at, { recursive: true });
    const lockedBy = (pid: number) =>
      writeFileSync(join(at, 'install.lock'), JSON.stringify({ pid, host: hostname() }));
    lockedBy(process.ppid);
    await expect(installNative('tensorflow')).rejects.toThrow(`process ${process.ppid} is installing into ${at}`);
    lockedBy(2147483646);
    await expect(installNative('tensorflow', { env: { PATH: folder } })).rejects.toThrow('npm: not found');
  });

  test('cannot be where nothing can be written', async () => {
    writeFileSync(join(folder, 'file'), '');
    await expect(installNative('tensorflow', { home: join(folder, 'file', 'home') })).rejects.toThrow(
      /cannot write to .*: choose another place with --dir or the variable POSENC_HOME/,
    );
  });

  test('its record knows a changed file from an unchanged one, and a damaged record is none', async () => {
    writeFileSync(join(folder, 'library.so'), 'abc');
    const part = {
      seconds: 1,
      downloadedBytes: 3,
      sources: {},
      files: { 'library.so': await sha256(join(folder, 'library.so')) },
    };
    expect(part.files['library.so']).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'); // FIPS 180-2
    expect(await damaged(folder, part)).toBeUndefined();
    writeRecord(folder, { way: 'wheel', parts: { libraries: part } });
    expect(readRecord(folder)).toEqual({ way: 'wheel', parts: { libraries: part } });
    writeFileSync(join(folder, 'library.so'), 'abd');
    expect(await damaged(folder, part)).toBe('library.so');
    writeFileSync(join(folder, 'install.json'), '{ "way"');
    expect(readRecord(folder)).toEqual({ parts: {} });
  });

  test('its plan marks what an earlier run finished', () => {
    const at = nativeFolder('tensorflow');
    mkdirSync(at, { recursive: true });
    const part = { seconds: 1, downloadedBytes: 3, sources: {}, files: {} };
    writeRecord(at, { way: 'wheel', npmFailed: 'no', parts: { packages: part, wheel: part } });
    expect(planInstall('tensorflow').steps.map(({ finished }) => finished)).toEqual([true, true, false, false]);
  });
});

describe('auto', () => {
  const backend = { name: 'simd', version: '', variant: '', threads: 1, description: '' } as const;
  const took = (name: Sample['name'], stepMs: number, losses = [4, 3.5, 3]): Sample => ({
    name,
    backend,
    stepMs,
    losses,
    seconds: 1,
  });

  test('takes another backend only when it is clearly faster and computes the same', () => {
    expect(decide([took('simd', 100), took('tensorflow', 40)])).toEqual({
      name: 'tensorflow',
      reason: 'auto is tensorflow: tensorflow is 2.5 times as fast as simd here',
    });
    expect(decide([took('simd', 100), took('tensorflow', 80)])).toEqual({
      name: 'simd',
      reason: 'auto is simd: tensorflow is 1.3 times as fast as simd here, not the 1.5 times that count as clearly',
    });
    expect(decide([took('simd', 100), took('tensorflow', 300)]).reason).toBe(
      'auto is simd: nothing installed is faster',
    );
    expect(decide([took('simd', 100), took('tensorflow', 10, [4, 3.5, 3.01])])).toMatchObject({
      name: 'simd',
      reason: expect.stringContaining('tensorflow computes other losses (4,3.5,3.01 against 4,3.5,3)'),
    });
    expect(decide([took('simd', 100), { name: 'tensorflow', failed: 'no such file\nmore' }]).reason).toBe(
      'auto is simd: nothing installed is faster; tensorflow is installed but fails (no such file)',
    );
  });

  test('measures nothing where nothing is installed', async () => {
    process.chdir(folder);
    expect(await chooseAuto()).toEqual({ name: 'simd', measured: [] });
    expect(existsSync(dataFolder())).toBe(false);
  });

  test('keeps what it measured; where that cannot be written it measures anew', async () => {
    process.chdir(folder);
    const modules = join(folder, 'node_modules', '@tensorflow');
    mkdirSync(join(modules, 'tfjs-node'), { recursive: true });
    symlinkSync(
      dirname(createRequire(import.meta.url).resolve('@tensorflow/tfjs/package.json')),
      join(modules, 'tfjs'),
    );
    writeFileSync(join(modules, 'tfjs-node', 'package.json'), '{ "version": "4.22.0", "main": "index.cjs" }');
    writeFileSync(join(modules, 'tfjs-node', 'index.cjs'), "throw new Error('no library')");
    const first = await chooseAuto(1);
    expect(first.measured.map(({ name }) => name)).toEqual(['simd', 'tensorflow']);
    expect(first.reason).toContain('tensorflow is installed but fails');
    expect(await chooseAuto(1)).toEqual(first);

    process.env.POSENC_HOME = join(folder, 'node_modules/@tensorflow/tfjs-node/index.cjs', 'home'); // below a file
    const other = await chooseAuto(1);
    expect(other.measured).toHaveLength(2);
  });
});
