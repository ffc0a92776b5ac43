import { attentionTemperature, type RuleInput, temperatureAt } from '@posenc/attention-temperature';
import {
  compose,
  createParams,
  createRegistry,
  createTransformer,
  type Dims,
  dimsOf,
  explicit,
  type Grid,
  type Params,
  perLayer,
  range,
  resolveModel,
} from '@posenc/core';
import type { Tensor } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { largestDifference } from './golden.ts';

beforeAll(() => tf.setBackend('cpu'));

const registry = createRegistry([attentionTemperature]);
const dims = (rest: Partial<Dims> = {}): Dims => ({
  modelDim: 16,
  embeddingDim: 16,
  numLayers: 2,
  numHeads: 2,
  numKvHeads: 2,
  headDim: 8,
  causal: true,
  ...rest,
});
const create = (rule: RuleInput, rest: Partial<Dims> = {}) =>
  attentionTemperature.create(attentionTemperature.config.parse({ rule }), dims(rest));
const seqLenOf = (query: Grid, length: number): Grid => ({ ...query, data: query.data.map(() => length) });

/** The scale of a layer at these positions. */
function scaleAt(rule: RuleInput, query: Grid, { layer = 0, length = query.cols, causal = true } = {}) {
  const { scale } = create(rule, { causal }).hooks({})({ query, key: query, seqLen: seqLenOf(query, length) }).layer!(
    layer,
  );
  return scale as Tensor;
}

describe('config', () => {
  it('without options: Su’s log_512 n', () =>
    expect(registry.parse({ type: 'attention-temperature' })).toEqual({
      type: 'attention-temperature',
      rule: { type: 'log-n', trainLength: 512, clamped: false },
    }));

  it.each([
    [{ type: 'logn' }, 'log-n'],
    [{ type: 'log-n', trainLength: 1 }, '"rule.trainLength" is 1'],
    [{ type: 'log-n', trainlength: 9 }, 'unknown key "trainlength" in "rule": did you mean "trainLength"?'],
    [{ type: 'llama4', floorScale: 0 }, '"rule.floorScale" is 0'],
    [{ type: 'ministral3', beta: 0 }, '"rule.beta" is 0'],
    [{ type: 'constant' }, '"rule.factor"'],
    [{ type: 'constant', factor: -1 }, '"rule.factor" is -1'],
  ])('refuses %j', (rule, words) =>
    expect(() => registry.parse({ type: 'attention-temperature', rule })).toThrow(words),
  );

  it.each<[RuleInput, string]>([
    [{ type: 'constant', factor: [[1, 2]] }, 'factor lists 1 layers of 2'],
    [{ type: 'constant', factor: [[1, 2], [1]] }, 'factor lists 1 numbers for 2 heads'],
    [
      {
        type: 'learned',
        init: [
          [1, 2, 3],
          [1, 2, 3],
        ],
      },
      'init lists 3 numbers for 2 heads',
    ],
  ])('refuses lists for another stack: %j', (rule, words) => {
    expect(() => create(rule)).toThrow(words);
    expect(() => create(rule)).toThrow(expect.objectContaining({ name: 'PosencError' }));
  });
});

describe('log n', () => {
  const rule = { type: 'log-n', trainLength: 512 } as const;

  it('is Su’s: unclamped, 2/3 for 64 keys, 1 for 512, 0 for the first token', () => {
    const scale = scaleAt(rule, explicit([[0, 63, 511, 4095]]));
    expect(scale.shape).toEqual([1, 1, 4, 1]);
    expect(largestDifference(scale.dataSync(), [0, 2 / 3, 1, 4 / 3])).toBeLessThan(1e-6);
  });

  it('is Qwen’s when clamped: 1 up to the trained length, then 12/11 at twice 2048', () => {
    const scale = scaleAt({ type: 'log-n', trainLength: 2048, clamped: true }, explicit([[0, 2047, 4095]]));
    expect(largestDifference(scale.dataSync(), [1, 1, 12 / 11])).toBeLessThan(1e-6);
  });

  it('belongs to each row of the batch, not to the longest (CLEX#1, Qwen#42)', () => {
    const both = explicit([
      [62, 63],
      [510, 511],
    ]);
    expect(scaleAt(rule, both).shape).toEqual([2, 1, 2, 1]);
    const alone = (row: number[]) => scaleAt(rule, explicit([row])).dataSync();
    expect(Array.from(scaleAt(rule, both).dataSync())).toEqual([...alone([62, 63]), ...alone([510, 511])]);
  });

  it('stops at the window', () => {
    const scale = scaleAt({ ...rule, window: 64 }, explicit([[31, 63, 511]]));
    expect(largestDifference(scale.dataSync(), [5 / 9, 2 / 3, 2 / 3])).toBeLessThan(1e-6);
  });

  it('in a bidirectional stack a query sees the whole sequence, wherever it stands', () => {
    const scale = scaleAt(rule, range(3), { causal: false, length: 64 });
    expect(largestDifference(scale.dataSync(), [2 / 3, 2 / 3, 2 / 3])).toBeLessThan(1e-6);
    expect(create(rule, { causal: false }).traits).toMatchObject({ readsPositions: false, readsSeqLen: true });
    expect(create(rule).traits).toMatchObject({ readsPositions: true, readsSeqLen: false, shiftInvariant: false });
  });
});

describe('Llama 4 and Ministral 3', () => {
  it('steps are one position apart', () => {
    const place = (position: number) => ({ position, seqLen: position + 1, causal: true });
    const llama4 = { type: 'llama4', floorScale: 8192, attnScale: 0.1 } as const;
    const ministral3 = { type: 'ministral3', originalMaxPositionEmbeddings: 8192, beta: 0.1 } as const;
    const both = (position: number) => [llama4, ministral3].map((rule) => temperatureAt(rule, place(position)));
    expect(both(8190)).toEqual([1, 1]);
    expect(both(8191)[0]).toBeCloseTo(1.0693147, 7);
    expect(both(8191)[1]).toBe(1);
    expect(both(8192)[1]).toBeCloseTo(1.0693147, 7);
    expect(both(131071)[0]).toBeCloseTo(1.2833213, 7);
  });
});

describe('by layer and head', () => {
  const lists = [
    [1, 2],
    [0.5, 3],
  ];

  it('a constant for all is a number', () => expect(scaleAt({ type: 'constant', factor: 1.2 }, range(3))).toBe(1.2));

  it('a constant per layer and head, or the same numbers learned', () => {
    expect(Array.from(scaleAt({ type: 'constant', factor: lists }, range(3), { layer: 1 }).dataSync())).toEqual([
      0.5, 3,
    ]);
    const learned = create({ type: 'learned', init: lists });
    expect(learned.params.factors).toEqual({ shape: [2, 2], init: { kind: 'values', values: [1, 2, 0.5, 3] } });
    const params = createParams(learned.params, 0);
    const { scale } = learned.hooks(params)({ query: range(3), key: range(3), seqLen: range(3) }).layer!(1);
    expect((scale as Tensor).shape).toEqual([1, 2, 1, 1]);
    expect(Array.from((scale as Tensor).dataSync())).toEqual([0.5, 3]);
  });

  it('starts at 1, where it changes nothing', () => {
    expect(create({ type: 'learned' }).params.factors).toEqual({ shape: [2, 2], init: { kind: 'constant', value: 1 } });
  });

  it('exchanging heads together with their constants changes nothing; without them it does', () => {
    const model = resolveModel({ vocabSize: 7, modelDim: 16, numLayers: 2, numHeads: 2, initStd: 0.3 });
    const built = (factor: number[][]) =>
      createTransformer(
        model,
        attentionTemperature.create(
          attentionTemperature.config.parse({ rule: { type: 'constant', factor } }),
          dimsOf(model),
        ),
      );
    const params = createParams(built(lists).params, 1);
    const exchange = (u: Tensor, axis: number) => tf.concat(tf.split(u, 2, axis).reverse(), axis);
    const moved: Params = Object.fromEntries(
      Object.entries(params).map(([path, u]): [string, Tensor] => {
        if (/attention\.(query|key|value)\.(weight|bias)$/.test(path)) return [path, exchange(u, u.rank - 1)];
        return [path, path.endsWith('attention.output.weight') ? exchange(u, 0) : u];
      }),
    );
    const tokens = explicit([[1, 5, 2, 3, 3, 0]]);
    const logits = (factor: number[][], weights: Params) =>
      built(factor).forward(weights, { tokens }).logits.dataSync();
    const before = logits(lists, params);
    const swapped = lists.map((heads) => [...heads].reverse());
    expect(largestDifference(logits(swapped, moved), before)).toBeLessThan(1e-5);
    expect(largestDifference(logits(lists, moved), before)).toBeGreaterThan(1e-3);
  });
});

describe('together with others', () => {
  it('compose multiplies scales: applied once, not twice (TensorRT-LLM#16379)', () => {
    const rule = { type: 'log-n', trainLength: 16 } as const;
    const query = explicit([[255]]);
    const at = { query, key: query, seqLen: seqLenOf(query, 256) };
    const product = (members: RuleInput[]) => {
      const { scale } = compose(members.map((member) => create(member))).hooks({})(at).layer!(0);
      return typeof scale === 'number' ? scale : scale!.dataSync()[0];
    };
    expect(product([rule])).toBeCloseTo(2, 6);
    expect(product([rule, { type: 'constant', factor: 3 }])).toBeCloseTo(6, 5);
  });

  it('perLayer gives it to the layers that have no RoPE', () => {
    const alternating = perLayer([create({ type: 'constant', factor: 5 }), create({ type: 'llama4' })], [0, 1], dims());
    const query = explicit([[8191]]);
    const layers = alternating.hooks({})({ query, key: query, seqLen: seqLenOf(query, 8192) });
    expect(layers.layer!(0).scale).toBe(5);
    expect((layers.layer!(1).scale as Tensor).dataSync()[0]).toBeCloseTo(1.0693147, 6);
  });
});

describe('tables', () => {
  const shown = (rule: RuleInput) => attentionTemperature.tables!(attentionTemperature.config.parse({ rule }), dims());

  it('factors by position', () => {
    const [table] = shown({ type: 'log-n', trainLength: 16 });
    expect(table).toMatchObject({ axes: ['k'], shape: [11] });
    expect(largestDifference(table!.data, [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5])).toBeLessThan(1e-12);
  });

  it('factors by layer and head', () => {
    expect(
      shown({
        type: 'constant',
        factor: [
          [1, 2],
          [3, 4],
        ],
      })[0],
    ).toMatchObject({ shape: [2, 2], data: [1, 2, 3, 4] });
    expect(shown({ type: 'learned' })[0]).toMatchObject({ name: 'factor at the start', data: [1, 1, 1, 1] });
  });
});
