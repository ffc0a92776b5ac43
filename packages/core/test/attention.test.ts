import type { Tensor2D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type AttentionContext,
  attention,
  createMask,
  explicit,
  HIDDEN,
  type LayerHooks,
  planOffsets,
  range,
  repeatHeads,
} from '../src/index.ts';
import { largest, randomTensor } from './fixtures.ts';

beforeAll(() => tf.setBackend('cpu'));

const [B, H, Hkv, T, Dh] = [2, 4, 2, 5, 6];
const q = () => randomTensor([B, H, T, Dh], 'q') as Tensor4D;
const k = () => randomTensor([B, Hkv, T, Dh], 'k') as Tensor4D;
const v = () => randomTensor([B, Hkv, T, Dh], 'v') as Tensor4D;
const causal = () => createMask({ causal: true, numQueries: T, numKeys: T });

/** The formula of the contract in plain float64 loops. */
function reference(
  score: (b: number, h: number, i: number, j: number) => number,
  visible: (i: number, j: number) => boolean,
): number[][][][] {
  const vs = repeatHeads(v(), H).arraySync();
  return Array.from({ length: B }, (_, b) =>
    Array.from({ length: H }, (_, h) =>
      Array.from({ length: T }, (_, i) => {
        const keys = Array.from({ length: T }, (_, j) => j).filter((j) => visible(i, j));
        const exps = keys.map((j) => Math.exp(score(b, h, i, j)));
        const sum = exps.reduce((a, e) => a + e, 0);
        return Array.from({ length: Dh }, (_, d) =>
          keys.reduce((a, j, n) => a + (exps[n]! / sum) * vs[b]![h]![j]![d]!, 0),
        );
      }),
    ),
  );
}

function dots(): (b: number, h: number, i: number, j: number) => number {
  const [qs, ks] = [q().arraySync(), repeatHeads(k(), H).arraySync()];
  return (b, h, i, j) => qs[b]![h]![i]!.reduce((a, x, d) => a + x * ks[b]![h]![j]![d]!, 0);
}

function expectEqual(hooks: LayerHooks, context: AttentionContext, expected: number[][][][]) {
  expect(largest(attention(q(), k(), v(), hooks, context), tf.tensor4d(expected))).toBeLessThan(1e-5);
}

describe('attention', () => {
  it('is softmax(q·k·scoreScale + mask)·v, queries sharing key/value heads in groups', () => {
    const dot = dots();
    expectEqual(
      {},
      { mask: causal(), scoreScale: 0.3 },
      reference(
        (b, h, i, j) => 0.3 * dot(b, h, i, j),
        (i, j) => j <= i,
      ),
    );
    expectEqual(
      {},
      { mask: {}, scoreScale: 1 },
      reference(dot, () => true),
    );
  });

  it('applies scale, then the softcap, then biases', () => {
    const dot = dots();
    const slopes = [1, -0.5, 0.25, 2];
    const bias = randomTensor([1, 1, T, T], 'bias') as Tensor4D;
    const biases = bias.arraySync();
    const hooks: LayerHooks = {
      scale: 1.5,
      relativeBias: (offsets) =>
        tf.mul(tf.tensor2d(slopes, [H, 1]), tf.tensor2d(Float32Array.from(offsets), [1, offsets.length])) as Tensor2D,
      bias: () => bias,
    };
    const context = { mask: causal(), scoreScale: 0.5, softcap: 2, offsets: planOffsets(range(T), range(T)) };
    const score = (b: number, h: number, i: number, j: number) =>
      2 * Math.tanh((0.75 * dot(b, h, i, j)) / 2) + slopes[h]! * (j - i) + biases[0]![0]![i]![j]!;
    expectEqual(
      hooks,
      context,
      reference(score, (i, j) => j <= i),
    );
  });

  it('lets `scores` replace the product and `mix` the weighted sum', () => {
    const constant = randomTensor([B, H, T, T], 's') as Tensor4D;
    const s = constant.arraySync();
    const doubled = reference(
      (b, h, i, j) => s[b]![h]![i]![j]!,
      () => true,
    ).map((x) => x.map((y) => y.map((z) => z.map((w) => 2 * w))));
    const hooks: LayerHooks = { scores: () => constant, mix: (w, u) => tf.mul(tf.matMul(w, u), 2) as Tensor4D };
    expectEqual(hooks, { mask: {}, scoreScale: 99 }, doubled);
  });

  it('shows `bias` the masked scores, unrotated repeated keys and queries', () => {
    const rawKeys = randomTensor([B, Hkv, T, Dh], 'raw') as Tensor4D;
    let seen = 0;
    attention(
      q(),
      k(),
      v(),
      {
        rotate: (u) => tf.mul(u, 2) as Tensor4D,
        bias: (site) => {
          expect(largest(site.k, repeatHeads(rawKeys, H))).toBe(0);
          expect(largest(site.q, q())).toBe(0);
          const scores = site.scores().arraySync();
          expect(scores[0]![0]![0]![4]).toBeLessThan(HIDDEN / 2);
          expect(scores[1]![3]![4]![0]).toBeCloseTo(2 * 0.3 * dots()(1, 3, 4, 0), 4);
          seen++;
          return tf.zeros([1, 1, 1, 1]);
        },
      },
      { mask: causal(), scoreScale: 0.3, rawKeys },
    );
    expect(seen).toBe(1);
  });

  it('gives zeros, not NaN, to a query that sees nothing, and passes no gradient through it', () => {
    const mask = createMask({
      causal: true,
      numQueries: T,
      numKeys: T,
      real: explicit([
        [0, 0, 1, 1, 1],
        [1, 1, 1, 1, 1],
      ]),
    });
    const out = attention(q(), k(), v(), {}, { mask, scoreScale: 1 }).arraySync();
    expect(out[0]![0]![1]).toEqual(new Array(Dh).fill(0));
    expect(out.flat(3).every(Number.isFinite)).toBe(true);
    const gradient = tf
      .grad((x) => tf.sum(attention(x as Tensor4D, k(), v(), {}, { mask, scoreScale: 1 })))(q())
      .arraySync() as number[][][][];
    expect(gradient.flat(3).every(Number.isFinite)).toBe(true);
    expect(gradient[0]![0]![1]).toEqual(new Array(Dh).fill(0));
  });
});

describe('createMask', () => {
  const shown = (mask: ReturnType<typeof createMask>) =>
    (mask.additive!.arraySync() as number[][][][]).map((row) =>
      row[0]!.map((r) => r.map((x) => (x === 0 ? 1 : 0)).join('')),
    );

  it('lets cached keys be seen by later queries', () => {
    expect(shown(createMask({ causal: true, numQueries: 2, numKeys: 5 }))).toEqual([['11110', '11111'].map(String)]);
    expect(createMask({ causal: true, numQueries: 1, numKeys: 5 }).additive).toBeUndefined();
  });
  it('slides a window: itself and w − 1 before it, or w/2 on either side', () => {
    expect(shown(createMask({ causal: true, numQueries: 4, numKeys: 4, slidingWindow: 2 }))).toEqual([
      ['1000', '1100', '0110', '0011'],
    ]);
    expect(shown(createMask({ causal: false, numQueries: 4, numKeys: 4, slidingWindow: 2 }))).toEqual([
      ['1100', '1110', '0111', '0011'],
    ]);
  });
  it('hides padding and other segments', () => {
    const mask = createMask({
      causal: true,
      numQueries: 4,
      numKeys: 4,
      real: explicit([[1, 1, 1, 0]]),
      segments: explicit([[0, 0, 1, 1]]),
    });
    expect(shown(mask)).toEqual([['1000', '1100', '0010', '0010']]);
  });
});

describe('planOffsets', () => {
  const values = (numHeads: number, offsets: Int32Array) =>
    tf.mul(
      tf.tensor2d([1, -3, 0.5].slice(0, numHeads), [numHeads, 1]),
      tf.tensor2d(Float32Array.from(offsets), [1, offsets.length]),
    ) as Tensor2D;

  it.each([
    [5, 5, 0],
    [1, 7, 6],
    [3, 7, 4],
    [1, 1, 0],
    [2, 2, 100],
  ])('spreads a row along diagonals: %i queries, %i keys, from position %i', (numQueries, numKeys, start) => {
    const [query, key] = [range(numQueries, start), range(numKeys, start + numQueries - numKeys)];
    const plan = planOffsets(query, key);
    const matrix = plan.expand(values(3, plan.offsets)).arraySync();
    for (let i = 0; i < numQueries; i++)
      for (let j = 0; j < numKeys; j++)
        expect(matrix[0]![1]![i]![j]).toBeCloseTo(-3 * (key.data[j]! - query.data[i]!), 5);
  });

  it('looks arbitrary positions up, each row its own, with the same gradient as diagonals', () => {
    const query = explicit([
      [0, 1, 2],
      [7, 3, 3],
    ]);
    const plan = planOffsets(query, query);
    expect(Array.from(plan.offsets)).toEqual([-4, -2, -1, 0, 1, 2, 4]);
    const matrix = plan.expand(values(3, plan.offsets)).arraySync();
    expect(matrix[1]![0]).toEqual([
      [0, -4, -4],
      [4, 0, 0],
      [4, 0, 0],
    ]);

    const weights = randomTensor([1, 2, 4, 4], 'w');
    const viaDiagonals = planOffsets(range(4), range(4));
    const viaLookup = planOffsets(
      explicit([
        [0, 1, 2, 3],
        [0, 1, 2, 3],
      ]),
      range(4),
    );
    const row = randomTensor([2, 7], 'row') as Tensor2D;
    const gradient = (p: typeof plan, share: number) =>
      tf.grad((r) => tf.sum(tf.mul(p.expand(r as Tensor2D), tf.mul(weights, share))))(row);
    expect(Array.from(viaLookup.offsets)).toEqual(Array.from(viaDiagonals.offsets));
    expect(largest(gradient(viaDiagonals, 1), gradient(viaLookup, 0.5))).toBeLessThan(1e-5);
  });
});

describe('a plan’s own numbers and vectors', () => {
  const row = (numbers: number[]) => explicit([numbers]);
  /** [query, key, fold]: consecutive, cached, one query, one key, scattered, two rows, folded. */
  const placings: Record<string, Parameters<typeof planOffsets>> = {
    'in order': [range(4), range(4)],
    'after a cache': [range(2, 5), range(7)],
    'one query': [range(1, 6), range(7)],
    'one key': [range(5), range(1, 4)],
    scattered: [row([3, 9, 9]), row([0, 3, 40, 9])],
    'two rows': [
      explicit([
        [0, 1, 2],
        [0, 0, 1],
      ]),
      explicit([
        [0, 1, 2],
        [0, 0, 1],
      ]),
    ],
    'two rows, one key': [
      explicit([
        [0, 1, 2],
        [0, 0, 5],
      ]),
      explicit([[7], [2]]),
    ],
    'in order, clipped': [range(5), range(5), (offset) => Math.min(Math.max(offset, -2), 2)],
    'scattered, clipped': [row([3, 90, 9]), row([0, 3, 40, 9]), (offset) => Math.min(Math.max(offset, -2), 2)],
  };
  const batch = 2;

  describe.each(Object.entries(placings))('%s', (_, [query, key, fold = (offset) => offset]) => {
    const plan = planOffsets(query, key, fold);
    const n = plan.offsets.length;
    const [Tq, Tk, W] = [query.cols, key.cols, 3];
    /** The column of each pair, from the positions alone. */
    const column = (b: number, i: number, j: number) => {
      const [qb, kb] = [query.rows === 1 ? 0 : b, key.rows === 1 ? 0 : b];
      return plan.offsets.indexOf(fold(key.data[kb * Tk + j]! - query.data[qb * Tq + i]!));
    };
    const pairs = (value: (b: number, h: number, i: number, j: number) => number) =>
      tf.tensor4d(
        Float32Array.from({ length: batch * H * Tq * Tk }, (_, at) => {
          const [j, i, h] = [at % Tk, Math.floor(at / Tk) % Tq, Math.floor(at / (Tk * Tq)) % H];
          return value(Math.floor(at / (Tk * Tq * H)), h, i, j);
        }),
        [batch, H, Tq, Tk],
      );
    const u = randomTensor([batch, H, Tq, W], 'u') as Tensor4D;
    const weights = randomTensor([batch, H, Tq, Tk], 'weights') as Tensor4D;

    it('shift gives each pair its query’s number for the pair’s column', () => {
      // What stands in a column is told by its offset: in order, columns with equal folds are apart.
      const numbers = tf.mul(
        randomTensor([batch, H, Tq, 1], 'query numbers'),
        tf.tensor1d(Float32Array.from(plan.offsets, (offset) => 1 + 0.1 * offset)),
      ) as Tensor4D;
      const x = numbers.arraySync();
      const wanted = pairs((b, h, i, j) => x[b]![h]![i]![column(b, i, j)]!);
      expect(plan.shift(numbers).shape).toEqual([batch, H, Tq, Tk]);
      expect(largest(plan.shift(numbers), wanted)).toBe(0);
    });

    it.each([1, H])('dot and mix with the vectors of %i heads, and their gradients', (own) => {
      const perOffset = [...new Set(plan.offsets)];
      const table = randomTensor([own, perOffset.length, W], 'table') as tf.Tensor3D;
      const spread = (t: tf.Tensor) =>
        tf.gather(
          t,
          tf.tensor1d(
            Array.from(plan.offsets, (offset) => perOffset.indexOf(offset)),
            'int32',
          ),
          1,
        );
      const [us, ts, ws] = [u.arraySync(), table.arraySync(), weights.arraySync()];
      const vector = (b: number, h: number, i: number, j: number) =>
        ts[own === 1 ? 0 : h]![perOffset.indexOf(plan.offsets[column(b, i, j)]!)]!;
      const dots = pairs((b, h, i, j) => vector(b, h, i, j).reduce((sum, x, d) => sum + x * us[b]![h]![i]![d]!, 0));
      const vectors = spread(table) as tf.Tensor3D;
      expect(vectors.shape).toEqual([own, n, W]);
      expect(largest(plan.dot(u, vectors), dots)).toBeLessThan(1e-6);
      const mixed = tf.tensor4d(
        us.map((head, b) =>
          head.map((queries, h) =>
            queries.map((_, i) =>
              Array.from({ length: W }, (_, d) =>
                ws[b]![h]![i]!.reduce((sum, w, j) => sum + w * vector(b, h, i, j)[d]!, 0),
              ),
            ),
          ),
        ),
      );
      expect(largest(plan.mix(weights, vectors), mixed)).toBeLessThan(1e-5);

      // ∂/∂u Σ weights · dot(u, vectors) = mix(weights, vectors), and the other way round.
      const byDot = tf.grads((x, t) => tf.sum(tf.mul(plan.dot(x as Tensor4D, spread(t) as tf.Tensor3D), weights)));
      const byMix = tf.grads((w, t) => tf.sum(tf.mul(plan.mix(w as Tensor4D, spread(t) as tf.Tensor3D), u)));
      const [du, dotTable] = byDot([u, table]) as [tf.Tensor, tf.Tensor];
      const [dw, mixTable] = byMix([weights, table]) as [tf.Tensor, tf.Tensor];
      expect(largest(du, mixed)).toBeLessThan(1e-5);
      expect(largest(dw, dots)).toBeLessThan(1e-5);
      expect(largest(dotTable, mixTable)).toBeLessThan(1e-5);
      const wanted = tf.buffer([own, perOffset.length, W]);
      for (let b = 0; b < batch; b++)
        for (let h = 0; h < H; h++)
          for (let i = 0; i < Tq; i++)
            for (let j = 0; j < Tk; j++)
              for (let d = 0; d < W; d++) {
                const place = [own === 1 ? 0 : h, perOffset.indexOf(plan.offsets[column(b, i, j)]!), d];
                wanted.set(wanted.get(...place) + ws[b]![h]![i]![j]! * us[b]![h]![i]![d]!, ...place);
              }
      expect(largest(dotTable, wanted.toTensor())).toBeLessThan(1e-5);
    });
  });

  it('is computed only when asked', () => {
    let folds = 0;
    const plan = planOffsets(row([0, 7, 3]), row([0, 7, 3]), (offset) => {
      folds++;
      return offset;
    });
    expect(folds).toBe(0);
    expect(plan.offsets.length).toBe(7);
    expect(Array.from(plan.offsets)).toEqual([-7, -4, -3, 0, 3, 4, 7]);
    expect(folds).toBe(9);
  });
});

describe('a band of offsets', () => {
  const places = (plan: ReturnType<typeof planOffsets>, rows: number, numQueries: number, numKeys: number) =>
    Array.from({ length: rows * numQueries * numKeys }, (_, n) => {
      const [b, i, j] = [Math.floor(n / numKeys / numQueries), Math.floor(n / numKeys) % numQueries, n % numKeys];
      const { offsets, queryPlaces, keyPlaces } = plan.band!;
      const place = (grid: typeof keyPlaces, t: number) => grid.data[(grid.rows === 1 ? 0 : b) * grid.cols + t]!;
      return offsets[place(keyPlaces, j) - place(queryPlaces, i)];
    });

  it('has a column for every pair of query and key, whose offset it states', () => {
    const query = explicit([
      [0, 1, 0, 1],
      [5, 6, 7, 0],
    ]);
    const key = range(6, 2);
    const expected = [0, 1].flatMap((b) =>
      Array.from(query.data.slice(4 * b, 4 * b + 4)).flatMap((q) => Array.from(key.data, (k) => k - q)),
    );
    expect(places(planOffsets(query, key), 2, 4, 6)).toEqual(expected);
    expect(places(planOffsets(query, key, Math.abs), 2, 4, 6)).toEqual(expected.map(Math.abs));
  });

  it('is what consecutive positions have anyway, and is left out where it would be wide', () => {
    const plan = planOffsets(range(3, 4), range(7));
    expect(plan.band!.offsets).toEqual(plan.offsets);
    expect(planOffsets(explicit([[0, 1000]]), explicit([[0, 1000]])).band).toBeUndefined();
  });
});
