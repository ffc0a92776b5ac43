/** The transformers that laws are checked in: small, of sizes that differ from one another wherever they may. */
import { type Dims, dimsOf, type ModelConfig, resolveModel } from '@posenc/core';
import type { Settings } from './law.ts';

export interface Stack {
  readonly name: string;
  readonly config: ModelConfig;
  readonly dims: Dims;
}

export interface Shape {
  readonly causal: boolean;
  readonly numHeads: number;
  readonly numKvHeads?: number;
  readonly embeddingDim?: number;
  readonly numLayers?: number;
}

export function stackOf(settings: Settings, shape: Shape): Stack {
  const { causal, numHeads, numKvHeads = numHeads, numLayers = 2 } = shape;
  const config = resolveModel({
    vocabSize: 13,
    modelDim: settings.modelDim,
    embeddingDim: shape.embeddingDim,
    headDim: settings.headDim,
    mlpDim: 16,
    activation: 'gelu-tanh', // smooth, so that differences can stand in for derivatives
    tiedEmbeddings: false,
    causal,
    numHeads,
    numKvHeads,
    numLayers,
  });
  const kind = causal ? 'causal' : 'bidirectional';
  const grouped = numKvHeads === numHeads ? '' : ` in groups of ${numHeads / numKvHeads}`;
  return { name: `${kind}, ${numLayers} layers, ${numHeads} heads${grouped}`, config, dims: dimsOf(config) };
}

/** Causal with plain heads; causal with grouped heads and a narrower embedding; bidirectional. */
export function stacksOf(settings: Settings): { plain: Stack; grouped: Stack; bidirectional: Stack } {
  const first = settings.heads[0]!;
  const last = settings.heads.at(-1)!;
  return {
    plain: stackOf(settings, { causal: true, numHeads: first }),
    grouped: stackOf(settings, {
      causal: true,
      numHeads: last,
      numKvHeads: groupsFor(last),
      embeddingDim: settings.modelDim - 4,
    }),
    bidirectional: stackOf(settings, { causal: false, numHeads: last }),
  };
}

/** The largest proper divisor: 4 → 2, 3 → 1. */
export function groupsFor(numHeads: number): number {
  for (let n = Math.floor(numHeads / 2); n > 1; n--) if (numHeads % n === 0) return n;
  return 1;
}
