/** Config, hooks and gradients, and mistakes other implementations have made (repository#number), each as a failing test. */
import { createRegistry } from '@posenc/core';
import { t5, t5Bucket, t5Buckets, t5BucketThresholds } from '@posenc/t5';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { biasMatrix, biasOf, create, dims } from './golden.ts';

beforeAll(() => tf.setBackend('cpu'));

const registry = createRegistry([t5]);
const parse = (options: object) => registry.parse({ type: 't5', ...options });
const range = (start: number, end: number) => Int32Array.from({ length: end - start }, (_, i) => start + i);

/** A table in which every number says its bucket and head: bucket + head / 10. */
const telling = (numBuckets: number, numHeads: number) =>
  Array.from({ length: numBuckets }, (_, b) => Array.from({ length: numHeads }, (_, h) => b + h / 10));

describe('config', () => {
  it('fills in T5’s numbers, and survives JSON', () => {
    const config = parse({});
    expect(config).toEqual({ type: 't5', numBuckets: 32, maxDistance: 128, perLayer: false });
    expect(registry.parse(JSON.parse(JSON.stringify(config)))).toEqual(config);
  });

  it.each([
    [{ numBukets: 32 }, 'unknown key "numBukets": did you mean "numBuckets"?'],
    [{ numBuckets: 1 }, '"numBuckets" is 1'],
    [{ numBuckets: 8.5 }, '"numBuckets" is 8.5'],
    [{ numBuckets: 100000 }, '"numBuckets" is 100000'],
    [{ maxDistance: 0 }, '"maxDistance" is 0'],
    [{ numBuckets: 32, maxDistance: 8 }, '"maxDistance" is 8: must be above numBuckets / 2'],
    [{ perLayer: 'yes' }, '"perLayer" is "yes"'],
    [{ bidirectional: true }, 'unknown key "bidirectional"'],
  ])('refuses %j', (options, words) => {
    expect(() => parse(options)).toThrow(words);
    expect(() => parse(options)).toThrow(expect.objectContaining({ name: 'PosencError' }));
  });

  it.each([
    [{ numBuckets: 33 }, false, 'numBuckets is 33; a bidirectional stack needs an even number'],
    [{ numBuckets: 2 }, false, 'of at least 4'],
    [
      { numBuckets: 32, maxDistance: 16 },
      true,
      'maxDistance is 16; with 32 buckets in a causal stack it must be an integer above 16',
    ],
  ])('refuses %j for causal %s', (options, causal, words) => {
    expect(() => create(options, { causal })).toThrow(words);
    expect(() => create(options, { causal })).toThrow(expect.objectContaining({ name: 'PosencError' }));
    expect(() => create(options, { causal: !causal })).not.toThrow();
  });

  it('the pure functions refuse the same', () => {
    expect(() => t5Bucket(1, { numBuckets: 7, maxDistance: 20, bidirectional: true })).toThrow('even number');
    expect(() => t5Buckets([1], { numBuckets: 0, maxDistance: 20, bidirectional: false })).toThrow('at least 2');
    expect(() => t5BucketThresholds({ numBuckets: 8, maxDistance: 2.5, bidirectional: true })).toThrow(
      'integer above 2',
    );
  });
});

describe('the table', () => {
  it('is [1, buckets, heads], or one per layer, drawn from N(0, modelDim^−½)', () => {
    const init = { kind: 'normal', std: 0.25 };
    expect(create({}, { numLayers: 3, numHeads: 5 }).params.table).toEqual({ shape: [1, 32, 5], init });
    expect(create({ perLayer: true }, { numLayers: 3, numHeads: 5 }).params.table).toEqual({ shape: [3, 32, 5], init });
  });

  it.each([false, true])('is read once per forward, however many layers (perLayer %s)', async (perLayer) => {
    const table = tf.randomNormal([perLayer ? 3 : 1, 32, 2]);
    const { kernels } = await tf.profile(() =>
      tf.tidy(() => {
        const hooks = create({ perLayer }, { numLayers: 3 }).hooks({ table })({ query: grid, key: grid, seqLen: grid });
        const offsets = range(-5, 1);
        for (const layer of [0, 1, 2]) hooks.layer!(layer).relativeBias!(offsets);
      }),
    );
    expect(kernels.filter(({ name }) => name === 'GatherV2')).toHaveLength(1);
  });

  it('is read anew for other offsets', () => {
    tf.tidy(() => {
      const bias = biasOf(create({}), tf.randomNormal([1, 32, 2]));
      expect(bias(range(-5, 1)).arraySync()[0]).toEqual(bias(range(-6, 1)).arraySync()[0]!.slice(1));
    });
  });

  it('per layer: layer l reads table l', () => {
    const table = tf.tensor([telling(32, 2), telling(32, 2).map((row) => row.map((x) => x + 100))]);
    const encoding = create({ perLayer: true });
    expect(biasOf(encoding, table, 0)(range(-2, 1)).arraySync().flat().map(Math.round)).toEqual([2, 1, 0, 2, 1, 0]);
    expect(biasOf(encoding, table, 1)(range(-2, 1)).arraySync().flat().map(Math.round)).toEqual([
      102, 101, 100, 102, 101, 100,
    ]);
  });

  it('looks up again when its result was disposed of', () => {
    const bias = biasOf(create({}), tf.randomNormal([1, 32, 2]));
    const offsets = range(-5, 1);
    const first = tf.tidy(() => bias(offsets).arraySync());
    expect(bias(offsets).arraySync()).toEqual(first);
  });

  it('its gradient sums over the offsets of each bucket', () => {
    const encoding = create({ numBuckets: 4, maxDistance: 8 }, { numHeads: 1 }); // first distances 0, 1, 2, 4
    const upstream = tf.tensor2d([[1, 2, 4, 8, 16, 32, 64, 128, 256]]);
    const gradient = tf.grad((table) => biasOf(encoding, table)(range(-7, 2)))(tf.zeros([1, 4, 1]), upstream);
    expect(Array.from(gradient.dataSync())).toEqual([128 + 256, 64, 16 + 32, 1 + 2 + 4 + 8]);
  });

  it('leaves nothing behind', () => {
    const table = tf.randomNormal([2, 32, 2]);
    const before = tf.memory().numTensors;
    tf.tidy(() => {
      for (const layer of [0, 1]) biasOf(create({ perLayer: true }), table, layer)(range(-9, 1));
    });
    expect(tf.memory().numTensors).toBe(before);
  });
});

const grid = { rows: 1, cols: 6, data: range(0, 6) };

describe('buckets', () => {
  const bidirectional = { numBuckets: 32, maxDistance: 128, bidirectional: true };
  const causal = { ...bidirectional, bidirectional: false };

  it('x-transformers#10: both sides of every boundary, bidirectional', () => {
    const distances = [8, 11, 12, 15, 16, 22, 23, 31, 32, 45, 46, 63, 64, 90, 91, 127];
    const expected = [8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15];
    expect(
      Array.from(
        t5Buckets(
          distances.map((n) => -n),
          bidirectional,
        ),
      ),
    ).toEqual(expected);
    expect(Array.from(t5Buckets(distances, bidirectional))).toEqual(expected.map((bucket) => bucket + 16));
  });

  it('causal: boundaries, and every key after the query in bucket 0', () => {
    const distances = [15, 16, 18, 19, 112, 113, 200];
    expect(
      Array.from(
        t5Buckets(
          distances.map((n) => -n),
          causal,
        ),
      ),
    ).toEqual([15, 16, 16, 17, 30, 31, 31]);
    expect(Array.from(t5Buckets([1, 2, 40, 500], causal))).toEqual([0, 0, 0, 0]);
  });

  it('candle#727: distances exactly on a boundary, where reordered float64 logarithms fall one short', () => {
    expect(Math.floor(Math.log(64 / 8) * (8 / Math.log(128 / 8)))).toBe(5); // the mistake: 8 + 5
    expect(t5Bucket(-64, bidirectional)).toBe(14);
    const wide = { numBuckets: 32, maxDistance: 256, bidirectional: false };
    expect([t5Bucket(-32, wide), t5Bucket(-64, wide), t5Bucket(-128, wide), t5Bucket(-256, wide)]).toEqual([
      20, 24, 28, 31,
    ]);
  });

  it('transformers#17891: integers, also for distance 0 and far beyond maxDistance', () => {
    const buckets = t5Buckets([-1e9, -1, 0, 1, 1e9], bidirectional);
    expect(buckets).toBeInstanceOf(Int32Array);
    expect(Array.from(buckets)).toEqual([15, 1, 0, 17, 31]);
  });

  it('maxDistance reaches the buckets (a reader that forgets it always uses 128)', () => {
    expect(t5Bucket(-100, { ...causal, maxDistance: 256 })).toBeLessThan(t5Bucket(-100, causal));
  });

  it('relative is key − query: in an encoder a key after the query reads the upper half', () => {
    const bias = biasMatrix(create({}, { causal: false, numHeads: 1 }), telling(32, 1), [2, 2, 0]);
    expect(bias).toEqual([0, 17, 1, 0]);
  });
});

describe('caches and heads', () => {
  const encoding = create({ numBuckets: 16, maxDistance: 40 }, { numHeads: 2 });
  const table = telling(16, 2);
  const rows = (bias: number[], numQueries: number, numKeys: number, from: number, to: number) =>
    [0, 1].flatMap((head) => bias.slice((head * numQueries + from) * numKeys, (head * numQueries + to) * numKeys));

  it('candle#899: the bias of one cached step is the last row of the whole', () => {
    const whole = biasMatrix(encoding, table, [60, 60, 0]);
    expect(biasMatrix(encoding, table, [1, 60, 59])).toEqual(rows(whole, 60, 60, 59, 60));
  });

  it('transformers#47359: more keys than queries, rows 20 to 23 of the whole', () => {
    const whole = biasMatrix(encoding, table, [60, 24, 0]);
    expect(biasMatrix(encoding, table, [3, 24, 20])).toEqual(rows(whole, 60, 24, 20, 23));
  });

  it('transformers#17968: without head 3 of 8 the others keep their bias', () => {
    const keep = [0, 1, 2, 4, 5, 6, 7];
    const all = biasMatrix(create({}, { numHeads: 8 }), telling(32, 8), [5, 5, 0]);
    const pruned = biasMatrix(
      create({}, { numHeads: 7 }),
      telling(32, 8).map((row) => keep.map((h) => row[h]!)),
      [5, 5, 0],
    );
    expect(pruned).toEqual(keep.flatMap((head) => all.slice(25 * head, 25 * (head + 1))));
  });
});

describe('what inspect shows', () => {
  const table = (causal: boolean) => t5.tables!(t5.config.parse({}), dims({ causal }))[0]!;

  it('buckets from −maxDistance, up to 0 when causal and to maxDistance when not', () => {
    expect(table(true)).toMatchObject({ quantity: 'bucket', axes: ['offset'], shape: [129], start: [-128] });
    expect(table(true).data[0]).toBe(31);
    expect(table(true).data[128]).toBe(0);
    expect(table(false)).toMatchObject({ shape: [257], start: [-128] });
    expect([table(false).data[0], table(false).data[128], table(false).data[256]]).toEqual([15, 0, 31]);
  });

  it('says that T5 does not scale its scores', () => {
    expect(t5.notes.join('\n')).toMatch(/does not divide scores by √headDim.*scoreScale to 1/);
  });
});
