/** `posenc bench`: the document, the tables, and what it refuses. Sizes are tiny: nothing here says how fast anything is. */
import { availableParallelism } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { benchSchema } from '../src/bench/document.ts';
import { ratios, summarize } from '../src/bench/stats.ts';
import { cli, folder, removeFolders } from './cli.ts';
import { mine } from './examples.ts';

afterAll(removeFolders);

const everything = 'standard-step,attention,products,training,decoding,profile';

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

  it('measures a part alone', async () => {
    const { code, out } = await cli(['bench', '--quick', '--backend', 'simd', '--only', 'profile', '--json']);
    expect(code).toBe(0);
    expect(benchSchema.parse(JSON.parse(out)).profile!.backend.name).toBe('simd');
  });

  it('measures one backend at everything but encodings', async () => {
    const { code, out, err } = await cli(['bench', '--quick', '--backend', 'simd', '--only', everything]);
    expect(code).toBe(0);
    const { standardStep, attention, products, training, decoding, profile, encodings } = benchSchema.parse(
      JSON.parse(out),
    );
    expect(encodings).toBeNull();
    const most = availableParallelism();
    expect(standardStep!.reference).toBe(`simd, ${most} thread${most === 1 ? '' : 's'}`);
    for (const c of standardStep!.contenders) expect(c).toMatchObject({ name: 'simd', rounds: { length: 2 } });

    const threads = [...new Set([1, most])].sort();
    expect(attention!.contenders.map((c) => c.threads).sort()).toEqual(threads);
    for (const { threads: count, cells } of attention!.contenders) {
      expect(cells.map(({ length }) => length)).toEqual([16, 32]);
      for (const cell of cells) {
        expect(cell).toMatchObject({ status: 'measured', peakBytes: expect.any(Number) });
        if (cell.status === 'measured' && count === most) expect(cell.ratio).toMatchObject({ min: 1, max: 1 });
        // Three gradients of heads × length × width, at least.
        if (cell.status === 'measured') expect(cell.peakBytes).toBeGreaterThan(3 * 4 * 2 * cell.length * 8);
      }
    }

    const [product] = products!.contenders;
    if (product?.status !== 'measured') throw new Error('the product was not measured');
    expect(product.gflops.max).toBeCloseTo((2 * 32 ** 3) / Math.min(...product.rounds) / 1e9);

    // Those that fill rotate or relativeBias and nothing else, found by what they fill.
    expect(training!.cells.map(({ length }) => length)).toEqual([16, 32]);
    const names = training!.cells[1]!.rows.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['t5', 'alibi', 'rope']));
    expect(names.filter((name) => ['nope', 'sinusoidal', 'learned', 'shaw', 'cope', 'fire'].includes(name))).toEqual(
      [],
    );

    const [short, long] = decoding!.cells;
    expect([short!.length, long!.length]).toEqual([16, 32]);
    expect(decoding!.ratio.n).toBe(2);

    const inside = profile!.kernels.reduce((sum, { seconds }) => sum + seconds, 0);
    expect(profile!.kernels.find(({ kernel }) => kernel === 'BatchMatMul')!.calls).toBeGreaterThan(10);
    expect(profile!.outside).toBeGreaterThan(0);
    expect(inside).toBeGreaterThan(0);

    for (const title of [
      ...['Standard step', 'Attention of one layer', 'Memory of one sequence', 'Matrix product 32³'],
      ...['Training step', 'One more token', 'Profile'],
    ])
      expect(err.split('\n').filter((line) => line.startsWith(title))).toHaveLength(1);
  });

  it('trains the encodings that are named, and says which end too early', async () => {
    const short = '{"type":"learned","numPositions":20}';
    const { out, err } = await cli(['bench', 'fox', short, '--quick', '--only', 'training', '--backend', 'wasm']);
    expect(err).toMatch(/^not trained: .* is defined below position 20$/m);
    expect(benchSchema.parse(JSON.parse(out)).training).toMatchObject({
      backend: { name: 'wasm' },
      cells: [{ rows: [{ name: 'fox' }] }, { rows: [{ name: 'fox' }] }],
    });
  });

  it.each([
    [['--lengths', '8'], 2, /whole numbers from 9 to 65536/],
    [['--only', 'all'], 2, /Allowed parts are standard-step, attention, .*, encodings/],
    [['rope', '--only', 'standard-step'], 1, /standard-step: taken without positions/],
    [['--only', 'attention', '--backend', 'webgpu'], 1, /webgpu is not here: /],
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
