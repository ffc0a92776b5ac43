import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { createAdamW, learningRateAt, pairedDifference, spread } from '../src/index.ts';

beforeAll(() => tf.setBackend('cpu'));

const golden = JSON.parse(readFileSync(new URL('../golden/adamw.json', import.meta.url), 'utf8'));

describe('AdamW', () => {
  it('equals PyTorch’s, with clipping, changing rates, and decay of matrices only', () => {
    const params = {
      matrix: tf.variable(tf.tensor2d(golden.matrix, [3, 2])),
      bias: tf.variable(tf.tensor1d(golden.bias)),
    };
    const init = { kind: 'constant', value: 0 } as const;
    const specs = { matrix: { shape: [3, 2], init, decay: true }, bias: { shape: [2], init } };
    const before = tf.memory().numTensors;
    const optimizer = createAdamW(params, specs, golden.options);
    golden.steps.forEach(
      (
        step: { gradients: number[][]; learningRate: number; norm: number; matrix: number[]; bias: number[] },
        i: number,
      ) => {
        const gradients = [tf.tensor2d(step.gradients[0]!, [3, 2]), tf.tensor1d(step.gradients[1]!)];
        const norm = optimizer.update(gradients, step.learningRate, i + 1);
        expect(norm.dataSync()[0]).toBeCloseTo(step.norm, 5);
        const values = [...params.matrix.dataSync(), ...params.bias.dataSync()];
        [...step.matrix, ...step.bias].forEach((expected, j) => {
          expect(Math.abs(values[j]! - expected)).toBeLessThan(2e-6);
        });
        tf.dispose([norm, gradients]);
      },
    );
    optimizer.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe('learningRateAt', () => {
  const options = { learningRate: 2, steps: 100, warmup: 0.1, finalFraction: 0.1 };
  it('rises linearly, then falls along half a cosine', () => {
    expect(learningRateAt(1, options)).toBeCloseTo(0.2);
    expect(learningRateAt(10, options)).toBeCloseTo(2);
    expect(learningRateAt(55, options)).toBeCloseTo(2 * (0.1 + 0.9 * 0.5));
    expect(learningRateAt(100, options)).toBeCloseTo(0.2);
  });
  it('needs no warm-up', () => {
    expect(learningRateAt(1, { ...options, steps: 1, warmup: 0 })).toBeCloseTo(0.2);
    expect(learningRateAt(1, { ...options, warmup: 0 })).toBeGreaterThan(1.99);
  });
});

describe('statistics', () => {
  it('spread is mean and sample standard deviation', () => {
    expect(spread([2, 4, 9])).toEqual({ mean: 5, sd: Math.sqrt(13), n: 3 });
    expect(spread([3])).toEqual({ mean: 3, sd: 0, n: 1 });
  });
  it('pairs seeds: a shared shift cancels, and only an interval without 0 is a verdict', () => {
    // Three differences −0.1, −0.2, −0.3: mean −0.2, sd 0.1, t(2) = 4.303 → margin 0.2484.
    const close = pairedDifference([1.0, 5.0, 9.0], [1.1, 5.2, 9.3]);
    expect(close.margin).toBeCloseTo((4.303 * 0.1) / Math.sqrt(3), 4);
    expect(close.verdict).toBe('no clear difference');
    expect(pairedDifference([1.0, 5.0, 9.0], [1.19, 5.2, 9.21]).verdict).toBe('lower');
    expect(pairedDifference([1.19, 5.2, 9.21], [1.0, 5.0, 9.0]).verdict).toBe('higher');
    expect(pairedDifference([1], [2]).verdict).toBe('one seed: no verdict');
  });
});
