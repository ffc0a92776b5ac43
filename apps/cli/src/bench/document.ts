/** The one JSON document of a benchmark, as a schema: what `posenc bench` ends with, and what the README's tables are drawn from. */
import { z } from '@posenc/core';

const summary = z
  .strictObject({ median: z.number(), min: z.number(), max: z.number(), n: z.int() })
  .describe('median and range over n rounds');

const measured = z
  .strictObject({ seconds: summary, ratio: summary.describe('to NoPE in the same round') })
  .describe('time, and the ratio to NoPE measured in turns with it');

const amount = z.strictObject({ value: z.int(), ratio: z.number().describe('to NoPE') });

const cell = z.discriminatedUnion('status', [
  z.strictObject({
    length: z.int(),
    status: z.literal('measured'),
    forward: measured,
    forwardBackward: measured,
    decode: measured.describe('one token through the cache, at this length'),
    peakTensors: amount.describe('alive at once in forward + backward, parameters included'),
    peakBytes: amount.describe('of those tensors'),
    heapBytes: z.int().nullable().describe('memory of the WebAssembly module afterwards; null: there is none'),
  }),
  z.strictObject({
    length: z.int(),
    status: z.enum(['undefined', 'failed']).describe('undefined: beyond the last position the encoding has'),
    reason: z.string(),
  }),
]);

const encodingRow = z.strictObject({
  name: z.string(),
  config: z.record(z.string(), z.unknown()),
  parameters: z.strictObject({ total: z.int(), encoding: z.int() }),
  cells: z.array(cell),
});

const backend = z.strictObject({
  name: z.string(),
  version: z.string(),
  variant: z.string(),
  threads: z.int(),
  description: z.string(),
});

const identity = { name: z.string(), kind: z.enum(['ours', 'rival']), threads: z.int().describe('that compute') };
const contender = z.discriminatedUnion('status', [
  z.strictObject({
    ...identity,
    status: z.literal('measured'),
    version: z.string(),
    variant: z.string(),
    losses: z.array(z.number()).describe('before each of the first steps, from the same weights and batch'),
    seconds: summary.describe('of one step'),
    ratio: summary.describe('to the reference, measured in turns with it'),
  }),
  z.strictObject({ ...identity, status: z.literal('absent'), reason: z.string() }),
]);

const stepSizes = z.strictObject({
  numLayers: z.int(),
  modelDim: z.int(),
  numHeads: z.int(),
  mlpDim: z.int(),
  vocabSize: z.int(),
  batch: z.int(),
  length: z.int(),
});

/** The JSON of a benchmark, checked. */
export const benchSchema = z.strictObject({
  format: z.literal('posenc-bench/1'),
  date: z.iso.datetime(),
  commit: z.string().nullable(),
  command: z.string(),
  quick: z.boolean().describe('small sizes, few rounds: a look, not a result'),
  machine: z.strictObject({
    platform: z.string(),
    processor: z.string(),
    cores: z.int(),
    memoryBytes: z.int(),
    loadBefore: z.array(z.number()).describe('load averages over 1, 5 and 15 minutes when it started'),
    otherCores: summary.describe('cores that other processes kept busy, seen in the pauses between measurements'),
  }),
  versions: z.record(z.string(), z.string()),
  encodings: z
    .strictObject({
      backend,
      model: z.record(z.string(), z.unknown()),
      lengths: z.array(z.int()),
      rows: z.array(encodingRow),
    })
    .nullable(),
  standardStep: z
    .strictObject({
      sizes: stepSizes,
      parameters: z.int(),
      reference: z.string().describe('the contender that ratios refer to: the fastest of ours'),
      contenders: z.array(contender).describe('fastest first'),
    })
    .nullable(),
});

/** The last output of `posenc bench`. */
export type BenchDocument = z.output<typeof benchSchema>;
export type EncodingRow = z.output<typeof encodingRow>;
/** What one encoding costs at one length, beside NoPE in the same run. */
export type EncodingCell = z.output<typeof cell>;
export type ContenderResult = z.output<typeof contender>;
export type StandardStep = NonNullable<BenchDocument['standardStep']>;
export type EncodingBench = NonNullable<BenchDocument['encodings']>;

/** Other processes kept a third of a core busy, or more: times are too long then, and ratios less certain. */
export const underLoad = ({ machine }: BenchDocument): boolean => machine.otherCores.median > 0.33;
