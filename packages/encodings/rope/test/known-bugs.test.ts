/** Mistakes other implementations have made (repository#number), each as a test that fails when it is made here. */
import { createRegistry, explicit, fromMask, range } from '@posenc/core';
import { fromHuggingFace, type RopeOptions, rope, ropeFrequencies, rotaryTables } from '@posenc/rope';
import type { Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { deviation } from './golden.ts';
import { constant, create, products, random, rotated } from './hooks.ts';

beforeAll(() => tf.setBackend('cpu'));

const angles = (headDim: number, positions: number[]) => {
  const { cos, sin, pairs } = rotaryTables(explicit([positions]), ropeFrequencies({}, { headDim }));
  return positions.map((_, t) =>
    Array.from({ length: pairs }, (_, k) => Math.atan2(sin[t * pairs + k]!, cos[t * pairs + k]!)),
  );
};

describe('precision', () => {
  it('gpt-neox#1003: the uploaded cosines are right to 1e-6 for every position below 8192', () => {
    const inverse = [1, 0.1, 0.01, 0.001];
    const encoding = create({}, 8);
    const u = tf.concat([tf.ones([1, 1, 8192, 4]), tf.zeros([1, 1, 8192, 4])], 3) as Tensor4D;
    const turned = rotated(encoding, u);
    const expected = Float64Array.from({ length: 8192 * 8 }, (_, i) => {
      const angle = Math.floor(i / 8) * inverse[i % 4]!;
      return i % 8 < 4 ? Math.cos(angle) : Math.sin(angle);
    });
    expect(deviation(turned, expected)).toBeLessThan(1e-6);
  });

  it.each([
    ['transformers#29285, rotary-embedding-torch: 256 and 257 are one bfloat16', 256, 257],
    ['transformers#26602: 2048 and 2049 are one float16', 2048, 2049],
    ['candle#3520: 15962 becomes 15936 in bfloat16', 15936, 15962],
  ])('%s', (_, a, b) => {
    const [first, second] = angles(64, [a, b]);
    const turns = (second![31]! - first![31]!) / 10000 ** (-62 / 64);
    expect(turns).toBeCloseTo(b - a, 6);
    const u = random([1, 1, 1, 64], 1);
    const encoding = create({}, 64);
    expect(deviation(rotated(encoding, u, range(1, a)), rotated(encoding, u, range(1, b)))).toBeGreaterThan(0.1);
  });

  it('torchtitan and others: two positions a million apart from zero still differ by one step', () => {
    const [first, second] = angles(64, [1048575, 1048576]);
    expect((second![31]! - first![31]!) / 10000 ** (-62 / 64)).toBeCloseTo(1, 5);
  });
});

describe('layout and width', () => {
  it.each(['half', 'interleaved'] as const)(
    'transformers#16298: turning by p, then by −p, is the identity (%s)',
    (pairing) => {
      const encoding = create({ pairing }, 8);
      const u = random([1, 2, 3, 8], 2);
      const there = tf.tensor4d(rotated(encoding, u, explicit([[3, 700, 131071]])), [1, 2, 3, 8]);
      expect(deviation(rotated(encoding, there, explicit([[-3, -700, -131071]])), u.dataSync())).toBeLessThan(1e-6);
    },
  );

  it('gpt-neox e7c1b469: a quarter of 8 channels turns, 2 to 7 pass through unchanged', () => {
    const u = random([1, 1, 4, 8], 3);
    const channels = (data: ArrayLike<number>, keep: (i: number) => boolean) =>
      Array.from(data).filter((_, i) => keep(i % 8));
    const turned = rotated(create({ partialRotaryFactor: 0.25 }, 8), u, range(4, 1));
    expect(channels(turned, (i) => i >= 2)).toEqual(channels(u.dataSync(), (i) => i >= 2));
    expect(
      deviation(
        channels(turned, (i) => i < 2),
        channels(u.dataSync(), (i) => i < 2),
      ),
    ).toBeGreaterThan(0.1);
  });

  it('transformers#48652: half of the channels means frequencies spaced by that half', () => {
    expect(ropeFrequencies({ partialRotaryFactor: 0.5 }, { headDim: 8 }).invFreq).toEqual(
      ropeFrequencies({}, { headDim: 4 }).invFreq,
    );
  });

  it('transformers#32495: an explicit head width decides, not modelDim / numHeads (1024 / 8 and 256: 128 frequencies)', () => {
    const tables = rope.tables!(rope.config.parse({}), {
      modelDim: 1024,
      embeddingDim: 1024,
      numLayers: 1,
      numHeads: 8,
      numKvHeads: 8,
      headDim: 256,
      causal: true,
    });
    expect(tables[0]!.shape).toEqual([128]);
  });

  it('transformers#44985: partialRotaryFactor survives saving and loading', () => {
    const registry = createRegistry([rope]);
    const saved = JSON.stringify(registry.parse({ type: 'rope', partialRotaryFactor: 0.25 }));
    expect(registry.parse(JSON.parse(saved))).toMatchObject({ partialRotaryFactor: 0.25 });
  });

  it.each(['half', 'interleaved'] as const)(
    'transformers#47403: tables and pairing agree, so products depend on distance (%s)',
    (pairing) => {
      const encoding = create({ pairing }, 8);
      const [q, k] = [random([1, 1, 5, 8], 4), random([1, 1, 5, 8], 5)];
      expect(deviation(products(encoding, q, k, range(5)), products(encoding, q, k, range(5, 13)))).toBeLessThan(1e-5);
    },
  );

  it('litgpt#2218: the base reaches the last frequency', () => {
    expect(ropeFrequencies({ base: 1e6 }, { headDim: 128 }).invFreq[63]).toBeCloseTo(1e6 ** (-126 / 128), 15);
  });
});

describe('offsets, padding, caches', () => {
  const u = random([1, 2, 9, 8], 6);
  const columns = (start: number, end: number) => tf.slice(u, [0, 0, start, 0], [-1, -1, end - start, -1]);

  it.each([
    ['keras-hub#1544: an offset of 5 equals that slice of the whole', [5, 9]],
    ['gpt-neox#363: one step equals that row of the whole', [8, 9]],
    ['rotary-embedding-torch#11: a second call with another offset is not the first', [2, 5]],
  ])('%s', (_, [start, end]) => {
    const encoding = create({}, 8);
    const whole = tf.tensor4d(rotated(encoding, u), [1, 2, 9, 8]);
    const part = tf.slice(whole, [0, 0, start!, 0], [-1, -1, end! - start!, -1]);
    expect(rotated(encoding, columns(start!, end!) as Tensor4D, range(end! - start!, start!))).toEqual(part.dataSync());
  });

  it('transformers#22069: three columns of padding on the left change nothing', () => {
    const encoding = create({}, 8);
    const mask = explicit([[0, 0, 0, 1, 1, 1, 1, 1, 1]]);
    const padded = tf.tensor4d(rotated(encoding, u, fromMask(mask)), [1, 2, 9, 8]);
    const alone = rotated(encoding, columns(3, 9) as Tensor4D, range(6));
    expect(tf.slice(padded, [0, 0, 3, 0], [-1, -1, 6, -1]).dataSync()).toEqual(alone);
  });

  it('LLMs-from-scratch#410: two configs in one process keep their own numbers', () => {
    const [a, b] = [create({}, 8), create({ base: 100, pairing: 'interleaved' }, 8)];
    const [onlyA, onlyB] = [rotated(create({}, 8), u), rotated(create({ base: 100, pairing: 'interleaved' }, 8), u)];
    expect([rotated(a, u), rotated(b, u), rotated(a, u)]).toEqual([onlyA, onlyB, onlyA]);
    expect(deviation(onlyA, onlyB)).toBeGreaterThan(0.1);
  });
});

describe('scaling', () => {
  const dynamic = { type: 'dynamic', factor: 2, originalMaxPositionEmbeddings: 4 } as const;

  it('transformers#25104: dynamic NTK decoded step by step equals the whole, because the session’s length is fixed', () => {
    const encoding = create({ scaling: dynamic }, 8);
    const [q, k] = [random([1, 1, 9, 8], 7), random([1, 1, 9, 8], 8)];
    const whole = products(encoding, q, k, range(9), constant(9, 9));
    const [queries, keys] = [q, k].map((u) =>
      tf.concat(
        Array.from({ length: 9 }, (_, t) => {
          const token = tf.slice(u, [0, 0, t, 0], [-1, -1, 1, -1]) as Tensor4D;
          return tf.tensor4d(rotated(encoding, token, range(1, t), constant(9, 1)), [1, 1, 1, 8]);
        }),
        2,
      ),
    );
    expect(deviation(tf.matMul(queries!, keys!, false, true).dataSync(), whole)).toBeLessThan(1e-6);
  });

  it('transformers#46624: a long sequence leaves nothing behind', () => {
    const encoding = create({ scaling: dynamic }, 8);
    const u = random([1, 1, 4, 8], 9);
    const before = rotated(encoding, u, range(4), constant(4, 4));
    rotated(encoding, u, range(4), constant(4000, 4));
    expect(rotated(encoding, u, range(4), constant(4, 4))).toEqual(before);
  });

  it('llama3#299: factor 8 is factor 8.0', () => {
    const read = (text: string) =>
      rope.config.parse(JSON.parse(`{ "scaling": { "type": "linear", "factor": ${text} } }`));
    expect(read('8')).toEqual(read('8.0'));
  });

  it.each([{ type: 'default' }, { type: 'linear', factor: 3 }, { type: 'ntk', factor: 3 }, dynamic] as const)(
    'mlx-lm#1076 and others: $type is not dropped or read from another key',
    (scaling) => {
      expect(rope.config.parse(JSON.parse(JSON.stringify(rope.config.parse({ scaling })))).scaling).toEqual(scaling);
      const { invFreq } = ropeFrequencies({ scaling }, { headDim: 8, seqLen: 12 });
      const plain = ropeFrequencies({}, { headDim: 8 }).invFreq;
      expect(deviation(invFreq, plain) > 1e-3).toBe(scaling.type !== 'default');
    },
  );

  it('transformers#41934: scaling one config’s frequencies leaves another’s alone', () => {
    const local = ropeFrequencies({ base: 10000 }, { headDim: 16 }).invFreq;
    ropeFrequencies({ base: 1e6, scaling: { type: 'linear', factor: 8 } }, { headDim: 16 });
    expect(ropeFrequencies({ base: 10000 }, { headDim: 16 }).invFreq).toEqual(local);
  });
});

describe('configs of Hugging Face', () => {
  const yarn = { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 4096 };
  const model = { model_type: 'llama', hidden_size: 64, num_attention_heads: 1, max_position_embeddings: 16384 };
  const frequenciesOf = (config: object) => {
    const { type: _, ...options } = fromHuggingFace(config) as { type: 'rope' } & RopeOptions;
    return ropeFrequencies(options, { headDim: 64 });
  };
  const scaled = (parameters: object) => frequenciesOf({ ...model, rope_parameters: { ...yarn, ...parameters } });

  it('transformers#33188: attention_factor null is the same as absent', () =>
    expect(scaled({ attention_factor: null })).toEqual(scaled({})));

  it('transformers#40320, KeyError: factor 4, null or absent is 16384 / 4096', () => {
    const { factor: _, ...implied } = yarn;
    expect(scaled({ factor: null })).toEqual(scaled({}));
    expect(frequenciesOf({ ...model, rope_parameters: implied })).toEqual(scaled({}));
  });

  it('transformers, nested truncate ignored: it counts in each layer type', () => {
    const nested = (truncate: boolean) =>
      fromHuggingFace({
        layer_types: ['full_attention'],
        rope_parameters: { full_attention: { ...yarn, rope_theta: 150000, truncate } },
      });
    expect(nested(false)).toMatchObject({ scaling: { truncate: false } });
    expect(nested(true)).not.toEqual(nested(false));
  });

  it('transformers, head_dim null crashes YaRN and dynamic: it follows from the other sizes', () =>
    expect(frequenciesOf({ ...model, head_dim: null, rope_parameters: yarn })).toEqual(scaled({})));

  it('transformers#41789: a scaled global base leaves the local one alone', () => {
    const scaling = { rope_type: 'linear', factor: 8 };
    expect(fromHuggingFace({ model_type: 'gemma3_text', num_hidden_layers: 6, rope_scaling: scaling })).toMatchObject({
      of: [
        { type: 'rope', base: 10000 },
        { type: 'rope', base: 1e6, scaling: { type: 'linear', factor: 8 } },
      ],
    });
  });

  it('vllm#46280: YaRN’s attention factor reaches cos and sin: scores at one position grow by 1.4158883²', () => {
    const [plain, sharp] = [
      {},
      { scaling: { type: 'yarn', factor: 64, originalMaxPositionEmbeddings: 4096 } as const },
    ];
    const u = random([1, 1, 1, 8], 12);
    const norm = (options: RopeOptions) => products(create(options, 8), u, u, range(1))[0]!;
    expect(norm(sharp) / norm(plain)).toBeCloseTo(1.4158883 ** 2, 5);
  });

  it('litgpt#2202: YaRN keeps the fastest pair and interpolates the slowest, not the other way', () => {
    const { invFreq } = scaled({});
    const plain = ropeFrequencies({}, { headDim: 64 }).invFreq;
    expect(invFreq[0]! / plain[0]!).toBe(1);
    expect(invFreq[31]! / plain[31]!).toBeCloseTo(0.25, 14);
  });

  it('coreai-models#66: proportional rotation turns channels 0, 1 and 8, 9 of 16, not 0 to 3', () => {
    const scaling = { type: 'proportional', partialRotaryFactor: 0.25 } as const;
    const u = random([1, 1, 1, 16], 13);
    const turned = rotated(create({ scaling }, 16), u, range(1, 3));
    const moved = Array.from(turned.keys()).filter((i) => Math.abs(turned[i]! - u.dataSync()[i]!) > 1e-6);
    expect(moved).toEqual([0, 1, 8, 9]);
  });

  it.each([
    [4096, 1],
    [4097, 1 / 3],
  ])('transformers#33129: at length %i LongRoPE divides by %f', (seqLen, expected) => {
    const lists = { shortFactor: [1], longFactor: [3] };
    const scaling = { type: 'longrope' as const, ...lists, originalMaxPositionEmbeddings: 4096, factor: 2 };
    expect(ropeFrequencies({ scaling }, { headDim: 2, seqLen }).invFreq[0]).toBe(expected);
  });
});
