/** `doctor --install` without installing, its flags, and how cores are shared out. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { shareCores } from '../src/trials/cores.ts';
import { cli, folder, removeFolders } from './cli.ts';

afterAll(removeFolders);

describe('doctor --install', () => {
  it('--dry-run says what is needed and what would be done, and writes nothing', async () => {
    const cwd = folder();
    const { code, out, err } = await cli(['doctor', '--install', 'tensorflow', '--dry-run', '--dir', 'here'], { cwd });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(`tensorflow into ${join(cwd, 'here', 'tensorflow-4.22.0')}: at most `);
    for (const need of ['npm', 'Python 3', 'pip', 'a C++17 compiler', 'free in'])
      expect(out).toMatch(new RegExp(`^ {2}[✓✗] .*${need.replace('++', '\\+\\+')}`, 'm'));
    expect(out).toContain('  · npm install @tensorflow/tfjs-node@4.22.0, which downloads TensorFlow itself\n');
    expect(out).toContain('  · compile the binding (if that download fails)\n');
    expect(existsSync(join(cwd, 'here'))).toBe(false);
  });

  it('--json: the same as data', async () => {
    const { out } = await cli(['doctor', '--install', 'tensorflow-gpu', '--dry-run', '--json']);
    const plan = JSON.parse(out);
    expect(plan).toMatchObject({ backend: 'tensorflow-gpu', folder: expect.stringContaining('tensorflow-gpu-4.22.0') });
    expect(plan.requirements.map(({ what }: { what: string }) => what)).toContain(
      'an NVIDIA graphics card and its driver',
    );
    expect(plan.steps).toHaveLength(5);
  });

  it('its flags go with it, and only two backends can be installed', async () => {
    expect(await cli(['doctor', '--dir', 'x'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('--dir belongs to --install'),
    });
    expect(await cli(['doctor', '--install', 'wasm'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('tensorflow-gpu'),
    });
  });
});

describe('trials × threads never exceed the cores', () => {
  const unasked = { workers: undefined, threads: undefined };
  it.each([
    [8, 20, unasked, { workers: 8, threads: 1 }],
    [8, 5, unasked, { workers: 5, threads: 1 }],
    [8, 2, unasked, { workers: 2, threads: 4 }],
    [8, 1, unasked, { workers: 1, threads: 8 }],
    [8, 20, { workers: 2, threads: undefined }, { workers: 2, threads: 4 }],
    [8, 20, { workers: 3, threads: undefined }, { workers: 3, threads: 2 }],
    [2, 20, { workers: 5, threads: undefined }, { workers: 2, threads: 1 }],
    [8, 20, { workers: undefined, threads: 4 }, { workers: 2, threads: 4 }],
    [8, 2, { workers: undefined, threads: 1 }, { workers: 2, threads: 1 }],
    [8, 20, { workers: undefined, threads: 16 }, { workers: 1, threads: 8 }],
    [8, 20, { workers: 4, threads: 4 }, { workers: 2, threads: 4 }],
  ])('%i cores, %i trials, asked for %o: %o', (cores, trials, asked, expected) => {
    const { workers, threads } = shareCores(cores, trials, asked);
    expect({ workers, threads }).toEqual(expected);
    expect(workers * threads).toBeLessThanOrEqual(cores);
  });
});
