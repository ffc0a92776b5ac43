/**
 * The standard step: what every contender is given. One folder holds the sizes, the initial weights and one batch, so that all
 * of them start from the same numbers and their losses can be compared step by step.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  below,
  createTransformer,
  dimsOf,
  drawParam,
  type Grid,
  resolveModel,
  sizeOf,
  stream,
  type Transformer,
  uniform,
} from '@posenc/core';
import { registryWith } from '../encodings.ts';

/** How large a model is. */
export interface ModelSizes {
  readonly numLayers: number;
  readonly modelDim: number;
  readonly numHeads: number;
  readonly mlpDim: number;
  readonly vocabSize: number;
}

/** How large the standard step is. */
export interface StepSizes extends ModelSizes {
  readonly batch: number;
  readonly length: number;
}

/** Decoder, pre-norm LayerNorm, ReLU, biases everywhere, tied embeddings, NoPE: the unit of every comparison of training speed. */
export const standardModel: ModelSizes = { numLayers: 4, modelDim: 128, numHeads: 4, mlpDim: 512, vocabSize: 64 };
/** That model, and a batch of 16 × 128 tokens. */
export const standardSizes: StepSizes = { ...standardModel, batch: 16, length: 128 };

/** Small enough for a look, and for tests; it says nothing about the standard step. */
export const quickModel: ModelSizes = { ...standardModel, numLayers: 2, modelDim: 64, mlpDim: 256 };
/** That model, and a batch of 2 × 32 tokens. */
export const quickSizes: StepSizes = { ...quickModel, batch: 2, length: 32 };

/** The standard step, written down for contenders in any language. */
export interface StepProblem {
  readonly sizes: StepSizes;
  /** No decay, no clipping. */
  readonly adam: {
    readonly learningRate: number;
    readonly beta1: number;
    readonly beta2: number;
    readonly epsilon: number;
  };
  readonly normEps: number;
  /** In the order of weights.f32; matrices are [in, out]. */
  readonly params: readonly { readonly path: string; readonly shape: readonly number[] }[];
}

/** PyTorch's defaults. */
export const standardAdam: StepProblem['adam'] = { learningRate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

/** The model of a problem. */
export function stepModel(sizes: ModelSizes): Transformer {
  const { numLayers, modelDim, numHeads, mlpDim, vocabSize } = sizes;
  const model = resolveModel({ numLayers, modelDim, numHeads, mlpDim, vocabSize });
  return createTransformer(model, registryWith().create({ type: 'nope' }, dimsOf(model)));
}

/** Writes problem.json, weights.f32 (all parameters, float32) and tokens.i32 ([batch, length + 1]) into a folder. */
export function writeProblem(folder: string, sizes: StepSizes): StepProblem {
  const model = stepModel(sizes);
  const entries = Object.entries(model.params);
  const problem: StepProblem = {
    sizes,
    adam: standardAdam,
    normEps: model.config.normEps,
    params: entries.map(([path, { shape }]) => ({ path, shape })),
  };
  const weights = entries.map(([path, spec]) => Buffer.from(drawParam(spec, 1, path).buffer));
  writeFileSync(join(folder, 'problem.json'), JSON.stringify(problem));
  writeFileSync(join(folder, 'weights.f32'), Buffer.concat(weights));
  writeFileSync(join(folder, 'tokens.i32'), Buffer.from(drawTokens(sizes).buffer));
  return problem;
}

/** Rows that a model can learn: four tokens in five follow from the one before. */
function drawTokens({ batch, length, vocabSize }: StepSizes): Int32Array<ArrayBuffer> {
  const random = stream(1, 'tokens');
  const tokens = new Int32Array(batch * (length + 1));
  for (let i = 0; i < tokens.length; i++) {
    const follows = i % (length + 1) > 0 && uniform(random) < 0.8;
    tokens[i] = follows ? (5 * tokens[i - 1]! + 17) % vocabSize : below(random, vocabSize);
  }
  return tokens;
}

/** The standard step as a contender reads it back: sizes, weights, tokens. */
export interface LoadedProblem extends StepProblem {
  readonly weights: readonly {
    readonly path: string;
    readonly shape: readonly number[];
    readonly data: Float32Array;
  }[];
  /** [batch, length] */
  readonly tokens: Grid;
  /** [batch, length] the next token of each. */
  readonly targets: Grid;
}

/** Reads a folder that `writeProblem` wrote. */
export function readProblem(folder: string): LoadedProblem {
  const problem = JSON.parse(readFileSync(join(folder, 'problem.json'), 'utf8')) as StepProblem;
  const floats = new Float32Array(new Uint8Array(readFileSync(join(folder, 'weights.f32'))).buffer);
  const ids = new Int32Array(new Uint8Array(readFileSync(join(folder, 'tokens.i32'))).buffer);
  let start = 0;
  const weights = problem.params.map(({ path, shape }) => {
    const end = start + sizeOf(shape);
    const data = floats.slice(start, end);
    start = end;
    return { path, shape, data };
  });
  const { batch: rows, length: cols } = problem.sizes;
  const columns = (shift: number): Grid => ({
    rows,
    cols,
    data: Int32Array.from(
      { length: rows * cols },
      (_, i) => ids[Math.floor(i / cols) * (cols + 1) + (i % cols) + shift]!,
    ),
  });
  return { ...problem, weights, tokens: columns(0), targets: columns(1) };
}
