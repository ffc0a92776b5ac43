/** The package in a browser: bundled as published, in a Worker, it trains to the very losses that it reaches in Node. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SimdOptions, useSimd } from '../src/index.ts';
import { bundle } from './browser/bundle.ts';
import { chromium, visit } from './browser/chromium.ts';
import { lossesOf } from './training.ts';

const steps = 5;

describe.skipIf(!chromium)(`in ${chromium ?? 'Chromium: there is none here (CHROMIUM names one)'}`, () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'simd-browser-'));
    await bundle(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    { isolated: true, options: { threads: 2 } },
    { isolated: true, options: { threads: 1 } },
    { isolated: true, options: { threads: 2, variant: 'plain' } },
    { isolated: false, options: {} },
    { isolated: false, options: { variant: 'plain' } },
  ] satisfies { isolated: boolean; options: SimdOptions }[])('isolated: $isolated, $options', async (request) => {
    const { isolated, options } = request;
    const result = await visit({ folder, isolated, options: { ...options, steps } });
    const inNode = await useSimd({ threads: 1, ...options });
    const losses = await lossesOf(steps);
    expect(losses.at(-1)).toBeLessThan(losses[0]! - 0.5);
    expect(result).toEqual({ ...inNode, joined: inNode.threads, isolated, losses });
  });

  test('isolated, one thread per core', async () => {
    const cores = Math.min(16, navigator.hardwareConcurrency);
    const result = await visit({ folder, isolated: true, options: { steps: 1 } });
    expect(result).toMatchObject({ threads: cores, joined: cores });
  });

  test('not isolated, several threads are refused', async () => {
    const result = await visit({ folder, isolated: false, options: { threads: 2, steps } });
    expect(result).toEqual({ error: expect.stringContaining('2 threads cannot share memory on a page that is not') });
  });
});
