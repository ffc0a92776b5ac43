/**
 * Against values that others computed; golden/README.md says who did. The laws see that an encoding is a lawful one, golden values
 * that it is the one that was meant.
 */
import { readFileSync } from 'node:fs';
import { useBackend } from '@posenc/backend';
import { range } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { myEncoding } from '../src/index.ts';

interface Case {
  readonly id: string;
  readonly config: object;
  /** exp(logStrength_h), one per head. */
  readonly strengths: readonly number[];
  readonly offsets: readonly number[];
  /** [head][offset] */
  readonly bias: readonly (readonly number[])[];
}

const file = new URL('../golden/my-encoding.json', import.meta.url);
const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: Case[] };

beforeAll(() => useBackend('cpu'));

describe('my-encoding.json', () => {
  it.each(cases)('$id', ({ config, strengths, offsets, bias }) => {
    const numHeads = strengths.length;
    const dims = {
      modelDim: 8,
      embeddingDim: 8,
      numLayers: 1,
      numHeads,
      numKvHeads: numHeads,
      headDim: 4,
      causal: true,
    };
    const created = myEncoding.create(myEncoding.config.parse(config), dims);
    const at = { query: range(1), key: range(1), seqLen: range(1) };
    const hooks = created.hooks({ logStrength: tf.tensor1d(strengths.map(Math.log)) })(at);
    const ours = hooks.layer!(0).relativeBias!(Int32Array.from(offsets)).arraySync();
    expect(ours).toHaveLength(numHeads);
    bias.forEach((row, h) => {
      expect(ours[h]).toHaveLength(row.length);
      row.forEach((value, i) => {
        expect(Math.abs(ours[h]![i]! - value)).toBeLessThan(1e-6); // float32 on the device, values below 4
      });
    });
  });
});
