/** Buckets, biases and whole attention layers against transformers, TensorFlow's model garden and onnxruntime. */
import { t5Bucket, t5Buckets, t5BucketThresholds } from '@posenc/t5';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { biasMatrix, create, deviation, load, rowsOf, type Stored } from './golden.ts';

beforeAll(() => tf.setBackend('cpu'));

interface Case {
  readonly id: string;
  readonly kind: 'bucket' | 'bias' | 'attention';
  readonly config: {
    num_buckets: number;
    max_distance: number;
    bidirectional: boolean;
    heads: number;
    head_dim: number;
  };
}

interface BucketCase extends Case {
  readonly rel_min: number;
  readonly rel_max: number;
  readonly runs: readonly (readonly [first: number, bucket: number])[];
  readonly full?: { readonly rel_min: number; readonly data: readonly number[] };
}

interface BiasCase extends Case {
  readonly query_length: number;
  readonly key_length: number;
  readonly query_offset: number;
  readonly table: Stored;
  readonly bias: Stored;
}

interface AttentionCase extends Case {
  readonly [tensor: string]: unknown;
}

const { cases } = load<{ cases: Case[] }>('reference/t5-bias');
const ofKind = <C extends Case>(kind: Case['kind']) => cases.filter((c) => c.kind === kind) as C[];
const optionsOf = ({ num_buckets: numBuckets, max_distance: maxDistance, bidirectional }: Case['config']) => ({
  numBuckets,
  maxDistance,
  bidirectional,
});
const encodingOf = ({ num_buckets: numBuckets, max_distance: maxDistance, bidirectional, heads }: Case['config']) =>
  create({ numBuckets, maxDistance }, { causal: !bidirectional, numHeads: heads });

it('every reference case is of a kind run below', () => {
  expect(cases).toHaveLength(14);
  expect(new Set(cases.map(({ id }) => id)).size).toBe(14);
  for (const { id, kind } of cases) expect(['bucket', 'bias', 'attention'], id).toContain(kind);
});

describe('transformers 5.24.0, buckets: equal for every offset', () => {
  for (const c of ofKind<BucketCase>('bucket'))
    it(c.id, () => {
      const offsets = Int32Array.from({ length: c.rel_max - c.rel_min + 1 }, (_, i) => c.rel_min + i);
      const expected = Array.from(offsets, (rel) => c.runs.findLast(([first]) => first <= rel)![1]);
      expect(Array.from(t5Buckets(offsets, optionsOf(c.config)))).toEqual(expected);
      if (!c.full) return;
      const one = c.full.data.map((_, i) => t5Bucket(c.full!.rel_min + i, optionsOf(c.config)));
      expect(one).toEqual(c.full.data);
    });
});

describe('transformers 5.24.0, biases: copies of the table', () => {
  for (const c of ofKind<BiasCase>('bias'))
    it(c.id, () => {
      const bias = biasMatrix(encodingOf(c.config), rowsOf(c.table), [c.query_length, c.key_length, c.query_offset]);
      expect(bias).toEqual(c.bias.data.map(Math.fround));
    });
});

describe('transformers 5.24.0, a whole T5Attention, scores not divided by √headDim', () => {
  for (const c of ofKind<AttentionCase>('attention'))
    it(c.id, () => {
      const stored = (name: string) => c[name] as Stored;
      const tensor = (name: string) => tf.tensor(Float32Array.from(stored(name).data), [...stored(name).shape]);
      const [batch, , length] = stored('q').shape as [number, number, number];
      const bias = biasMatrix(encodingOf(c.config), rowsOf(stored('table')), [length, length, 0]);
      expect(bias).toEqual(stored('bias').data.map(Math.fround));

      const keep = tensor('keep');
      const scores = tf.add(
        tf.matMul(tensor('q'), tensor('k'), false, true),
        tf.tensor(bias, [1, c.config.heads, length, length]),
      );
      const weights = tf.softmax(tf.add(scores, tf.mul(tf.sub(1, keep), -1e9)));
      const heads = tf
        .matMul(weights, tensor('v'))
        .transpose([0, 2, 1, 3])
        .reshape([batch * length, -1]);
      expect(deviation(tf.mul(scores, keep).dataSync(), stored('scores').data)).toBeLessThan(1e-6);
      expect(deviation(weights.dataSync(), stored('probs').data)).toBeLessThan(1e-6);
      expect(deviation(tf.matMul(heads, tensor('w_o'), false, true).dataSync(), stored('out').data)).toBeLessThan(1e-6);
    });
});

describe('numbers printed in other projects’ tests', () => {
  interface Published {
    readonly bucket_cases: { bidirectional: boolean; expected: number[][] }[];
    readonly bias_cases: {
      num_buckets: number;
      max_distance: number;
      heads: number;
      seq: number;
      bidirectional: boolean;
      table_bucket_by_head: number[][];
      expected: number[][][];
    }[];
  }
  const { bucket_cases, bias_cases } = load<Published>('published/ort-tfm-t5-buckets');

  it('are two bucket matrices and three biases', () => {
    expect([bucket_cases.length, bias_cases.length]).toEqual([2, 3]);
  });

  for (const { bidirectional, expected } of bucket_cases)
    it(`tensorflow/models, ${bidirectional ? 'bidirectional' : 'causal'}: queries 0 to 2, keys 0 and 1`, () => {
      const options = { numBuckets: 32, maxDistance: 128, bidirectional };
      expect([0, 1, 2].map((query) => [0, 1].map((key) => t5Bucket(key - query, options)))).toEqual(expected);
    });

  for (const c of bias_cases)
    it(`onnxruntime, ${c.heads} heads, ${c.bidirectional ? 'bidirectional' : 'causal'}`, () => {
      const encoding = create(
        { numBuckets: c.num_buckets, maxDistance: c.max_distance },
        { causal: !c.bidirectional, numHeads: c.heads },
      );
      expect(biasMatrix(encoding, c.table_bucket_by_head, [c.seq, c.seq, 0])).toEqual(c.expected.flat(2));
    });
});

describe('first distances of the buckets, from 100-digit logarithms', () => {
  interface Thresholds {
    readonly numBuckets: number;
    readonly maxDistance: number;
    readonly bidirectional: boolean;
    readonly thresholds: number[];
  }
  for (const { thresholds, ...options } of load<{ cases: Thresholds[] }>('thresholds').cases)
    it(JSON.stringify(options), () => expect(Array.from(t5BucketThresholds(options))).toEqual(thresholds));
});
