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

const backendUse = z.strictObject({
  name: z.string(),
  version: z.string(),
  variant: z.string(),
  threads: z.int(),
  description: z.string(),
});

const identity = { name: z.string(), kind: z.enum(['ours', 'rival']), threads: z.int().describe('that compute') };
const rounds = z.array(z.number()).describe('median seconds of each round; slow ones take part in the first rounds');
const absent = z.strictObject({ ...identity, status: z.literal('absent'), reason: z.string() });
const contender = z.discriminatedUnion('status', [
  z.strictObject({
    ...identity,
    status: z.literal('measured'),
    version: z.string(),
    variant: z.string(),
    losses: z.array(z.number()).describe('before each of the first steps, from the same weights and batch'),
    rounds,
    seconds: summary.describe('of one step'),
    ratio: summary.describe('to the reference, measured in turns with it'),
  }),
  absent,
]);

const modelSizes = z.strictObject({
  numLayers: z.int(),
  modelDim: z.int(),
  numHeads: z.int(),
  mlpDim: z.int(),
  vocabSize: z.int(),
});

const attentionCell = z.discriminatedUnion('status', [
  z.strictObject({
    length: z.int(),
    status: z.literal('measured'),
    seconds: summary.describe('of one layer of attention, forward and backward'),
    ratio: summary.nullable().describe('to the reference, measured in turns with it; null: it was not measured here'),
    peakBytes: z.int().nullable().describe('of one sequence, beyond its inputs; null: the backend does not know'),
  }),
  z.strictObject({
    length: z.int(),
    status: z.literal('over'),
    seconds: z.number().describe('two passes took longer, here or at a shorter length'),
  }),
  z.strictObject({ length: z.int(), status: z.literal('failed'), reason: z.string() }),
]);

const attentionBench = z.strictObject({
  sizes: z.strictObject({
    numHeads: z.int(),
    headDim: z.int(),
    tokens: z.int().describe('in a batch, at every length'),
  }),
  limitSeconds: z.number().describe('when a contender is cut off'),
  reference: z.string().describe('the contender that ratios refer to'),
  contenders: z
    .array(
      z.strictObject({
        name: z.string(),
        threads: z.int(),
        version: z.string(),
        variant: z.string(),
        cells: z.array(attentionCell),
      }),
    )
    .describe('fastest at the greatest length first'),
});

const product = z.discriminatedUnion('status', [
  z.strictObject({
    ...identity,
    status: z.literal('measured'),
    version: z.string(),
    variant: z.string(),
    rounds,
    gflops: summary.describe('2 size³ operations by the time of one product, in 1e9 a second'),
  }),
  absent,
]);

const productBench = z.strictObject({
  size: z.int().describe('rows and columns of both operands'),
  contenders: z.array(product).describe('fastest first; one thread each'),
});

const trainingBench = z.strictObject({
  backend: backendUse,
  sizes: modelSizes,
  tokens: z.int().describe('in a batch, at every length'),
  cells: z.array(
    z.strictObject({
      length: z.int(),
      nope: summary.describe('seconds of a training step without positions'),
      rows: z.array(
        z.strictObject({
          name: z.string(),
          seconds: summary,
          ratio: summary.describe('to NoPE in the same round'),
        }),
      ),
    }),
  ),
});

const decodingBench = z.strictObject({
  backend: backendUse,
  sizes: modelSizes,
  cells: z.array(
    z.strictObject({
      length: z.int(),
      full: summary.describe('seconds to compute the whole text again'),
      cached: summary.describe('seconds for one token through the cache'),
      speedup: summary.describe('full by cached, of one round'),
    }),
  ),
  ratio: summary.describe('speed-up at the greatest length by that at the smallest, of one round'),
});

const profileBench = z.strictObject({
  backend: backendUse,
  steps: z.int(),
  seconds: summary.describe('of one standard step with a clock around every kernel'),
  outside: z.number().describe('seconds of a step outside all kernels, on average'),
  kernels: z
    .array(z.strictObject({ kernel: z.string(), seconds: z.number(), calls: z.number() }))
    .describe('on average over the steps, most time first'),
});

/** The JSON of a benchmark, checked. */
export const benchSchema = z.strictObject({
  format: z.literal('posenc-bench/2'),
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
  environment: z.record(z.string(), z.string()).describe('what was set of the variables that change what computes'),
  encodings: z
    .strictObject({
      backend: backendUse,
      model: z.record(z.string(), z.unknown()),
      lengths: z.array(z.int()),
      rows: z.array(encodingRow),
    })
    .nullable(),
  standardStep: z
    .strictObject({
      sizes: modelSizes.extend({ batch: z.int(), length: z.int() }),
      parameters: z.int(),
      reference: z
        .string()
        .describe('the contender that ratios refer to: simd with all threads, else the fastest of ours'),
      contenders: z.array(contender).describe('fastest first'),
    })
    .nullable(),
  attention: attentionBench.nullable(),
  products: productBench.nullable(),
  training: trainingBench.nullable(),
  decoding: decodingBench.nullable(),
  profile: profileBench.nullable(),
});

/** The last output of `posenc bench`. */
export type BenchDocument = z.output<typeof benchSchema>;
export type EncodingRow = z.output<typeof encodingRow>;
/** What one encoding costs at one length, beside NoPE in the same run. */
export type EncodingCell = z.output<typeof cell>;
export type ContenderResult = z.output<typeof contender>;
export type StandardStep = NonNullable<BenchDocument['standardStep']>;
export type EncodingBench = NonNullable<BenchDocument['encodings']>;
export type AttentionBench = z.output<typeof attentionBench>;
export type AttentionCell = z.output<typeof attentionCell>;
export type ProductBench = z.output<typeof productBench>;
export type ProductResult = z.output<typeof product>;
export type TrainingBench = z.output<typeof trainingBench>;
export type DecodingBench = z.output<typeof decodingBench>;
export type ProfileBench = z.output<typeof profileBench>;
/** The backend of a process that measures by itself. */
export type BackendUse = z.output<typeof backendUse>;

/** Other processes kept a third of a core busy, or more: times are too long then, and ratios less certain. */
export const underLoad = ({ machine }: BenchDocument): boolean => machine.otherCores.median > 0.33;
