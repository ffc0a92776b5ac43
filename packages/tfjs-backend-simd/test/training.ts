/** Small decoders that train on a sequence they could know: the same numbers wherever they run. */
import { createTransformer, dimsOf, type Encoding, resolveModel } from '../../core/src/index.ts';
import { alibi } from '../../encodings/alibi/src/index.ts';
import { nope } from '../../encodings/nope/src/index.ts';
import { rope } from '../../encodings/rope/src/index.ts';
import { t5 } from '../../encodings/t5/src/index.ts';
import { trainingSchema } from '../../training/src/config.ts';
import { startSession, trainStep } from '../../training/src/train.ts';

type Build = (dims: ReturnType<typeof dimsOf>) => Encoding;
export const encodings = {
  nope: (dims) => nope.create({}, dims),
  rope: (dims) => rope.create(rope.config.parse({}), dims),
  alibi: (dims) => alibi.create(alibi.config.parse({}), dims),
  t5: (dims) => t5.create(t5.config.parse({}), dims),
} satisfies Record<string, Build>;

export interface TrainingSizes {
  readonly encoding: keyof typeof encodings;
  readonly modelDim: number;
  readonly numHeads: number;
  readonly numLayers: number;
  readonly batchSize: number;
  readonly length: number;
}

const vocabSize = 64;

/** Parameters on the current backend; `step` trains on one batch and returns its loss. */
export function createTraining({ encoding, batchSize, length, ...sizes }: TrainingSizes) {
  const model = resolveModel({ vocabSize, ...sizes });
  const config = trainingSchema.parse({ length, batchSize, steps: 1_000_000, warmup: 0 });
  const session = startSession(createTransformer(model, encodings[encoding](dimsOf(model))), config, 1);
  const grid = (first: number) => ({
    rows: batchSize,
    cols: length,
    data: Int32Array.from({ length: batchSize * length }, (_, i) => ((i + first) ** 2 + 7 * i) % vocabSize),
  });
  const batch = { tokens: grid(0), targets: grid(1) };
  const task = { trainBatch: () => batch } as unknown as Parameters<typeof trainStep>[1];
  return {
    step: async () => (await trainStep(session, task, config, 1)).loss,
    dispose: () => session.dispose(),
  };
}

/** The losses of the first steps of a decoder with relative positions. */
export async function lossesOf(steps: number): Promise<number[]> {
  const sizes = { modelDim: 64, numHeads: 4, numLayers: 2, batchSize: 4, length: 64 };
  const training = createTraining({ encoding: 't5', ...sizes });
  const losses: number[] = [];
  for (let i = 0; i < steps; i++) losses.push(await training.step());
  training.dispose();
  return losses;
}
