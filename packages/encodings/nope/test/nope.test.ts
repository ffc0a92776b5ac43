import { type Dims, explicit, range } from '@posenc/core';
import { expect, test } from 'vitest';
import { nope } from '../src/index.ts';

const dims = (causal: boolean): Dims => ({
  modelDim: 12,
  embeddingDim: 12,
  numLayers: 2,
  numHeads: 3,
  numKvHeads: 3,
  headDim: 4,
  causal,
});

test.each([true, false])('leaves every hole empty, whatever the positions (causal: %s)', (causal) => {
  const created = nope.create({}, dims(causal));
  for (const query of [range(5), range(3, 1_048_576), explicit([[7], [2]])])
    expect(created.hooks({})({ query, key: query, seqLen: query })).toEqual({});
  expect(created.params).toEqual({});
});

test('its traits', () => {
  expect(nope.create({}, dims(false)).traits).toEqual({
    maxPosition: Number.POSITIVE_INFINITY,
    shiftInvariant: true,
    requiresCausal: false,
    readsPositions: false,
    readsSeqLen: false,
  });
});

test('its config takes no option', () => {
  expect(nope.config.parse({})).toEqual({});
  expect(nope.config.safeParse({ base: 10000 }).success).toBe(false);
});
