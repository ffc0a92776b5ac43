/** `posenc bench`: the document, the tables, and what it refuses. Sizes are tiny: nothing here says how fast anything is. */
import { afterAll, describe, expect, it } from 'vitest';
import { benchSchema } from '../src/bench/document.ts';
import { ratios, summarize } from '../src/bench/stats.ts';
import { cli, folder, removeFolders } from './cli.ts';
import { mine } from './examples.ts';

afterAll(removeFolders);

describe('posenc bench', () => {
  it('ends with one document that its schema describes, and prints tables elsewhere', async () => {
    const argv = ['bench', 'nope', 'learned', '{"type":"learned","numPositions":20}', '--quick', '--only', 'encodings'];
    const { code, out, err } = await cli([...argv, '--backend', 'wasm']);
    expect(code).toBe(0);
    const { encodings, standardStep, quick } = benchSchema.parse(JSON.parse(out));
    expect({ quick, standardStep, lengths: encodings!.lengths }).toEqual({
      quick: true,
      standardStep: null,
      lengths: [16, 32],
    });
    const [nope, learned, short] = encodings!.rows;
    expect(nope!.parameters.encoding).toBe(0);
    expect(learned!.parameters).toEqual({ total: nope!.parameters.total + 1024 * 128, encoding: 1024 * 128 });
    expect(learned!.cells[0]).toMatchObject({
      status: 'measured',
      length: 16,
      peakTensors: { value: expect.any(Number) },
    });
    expect(short!.cells[1]).toEqual({ length: 32, status: 'undefined', reason: 'defined below position 20' });
    for (const cell of nope!.cells) {
      // Measured beside itself: what is counted is equal, what is timed is positive.
      expect(cell).toMatchObject({ status: 'measured', peakTensors: { ratio: 1 }, peakBytes: { ratio: 1 } });
      if (cell.status === 'measured')
        for (const { seconds, ratio } of [cell.forward, cell.forwardBackward, cell.decode])
          expect(Math.min(seconds.min, ratio.min)).toBeGreaterThan(0);
    }
    expect(err).toMatch(/^Ratios to NoPE/);
    expect(err).toMatch(/^learned +16 .*\+131,072$/m);
    expect(err).toMatch(/^ +32 +undefined: defined below position 20$/m);
  });

  it('measures an encoding of a stranger by its path, without tables when asked', async () => {
    const cwd = folder({ 'mine.ts': mine });
    const argv = ['bench', './mine.ts', '--lengths', '12', '--only', 'encodings', '--quick', '--json'];
    const { code, out, err } = await cli([...argv, '--backend', 'wasm'], { cwd });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(benchSchema.parse(JSON.parse(out)).encodings!.rows).toMatchObject([
      { name: './mine.ts', cells: [{ length: 12, status: 'measured' }] },
    ]);
  });

  it.each([
    [['--lengths', '8'], 2, /whole numbers from 9 to 65536/],
    [['--only', 'all'], 2, /Allowed choices are standard-step, encodings/],
    [['rope', '--only', 'standard-step'], 1, /the standard step is taken without positions/],
    [['{"type":"rop"}'], 1, /no encoding is called "rop"/],
    [['--plugin', './none.ts'], 1, /cannot load "\.\/none\.ts"/],
  ])('refuses %j', async (argv, code, message) => {
    const result = await cli(['bench', ...argv]);
    expect(result).toMatchObject({ code, out: '', err: expect.stringMatching(message) });
  });
});

describe('summaries', () => {
  it('are median and range', () => {
    expect(summarize([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3, n: 3 });
    expect(summarize([4, 1, 2, 3])).toEqual({ median: 2.5, min: 1, max: 4, n: 4 });
    expect(() => summarize([])).toThrow(RangeError);
  });
  it('of ratios pair what was measured in the same round', () => {
    expect(ratios([2, 30], [1, 10])).toEqual({ median: 2.5, min: 2, max: 3, n: 2 });
  });
});
