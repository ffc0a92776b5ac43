import type { Mutant } from '../mutant.ts';

const file = 't5.ts';
const encoding = 't5';
const buckets = 'bucketsOf(offsets, thresholds, !causal)';

export const t5Mutants: readonly Mutant[] = [
  {
    encoding,
    bug: 'the sign of the offset flipped, query − key: in a causal stack all that is seen shares one bucket',
    seen: 'several ports',
    edits: [{ file, find: buckets, replace: 'bucketsOf(offsets.map((offset) => -offset), thresholds, !causal)' }],
    configs: [{}],
    caughtBy: 'effect',
  },
  {
    encoding,
    bug: 'the causal rule in a bidirectional stack: everything ahead in one bucket',
    seen: 'x-transformers#10',
    edits: [{ file, find: buckets, replace: 'bucketsOf(offsets, thresholds, false)' }],
    configs: [{}],
    caughtBy: 'causal or bidirectional',
  },
  {
    encoding,
    bug: 'buckets by place in the list instead of by offset',
    seen: 'candle#899, transformers#47359',
    edits: [
      {
        file,
        find: buckets,
        replace: 'bucketsOf(offsets.map((_, i) => i - (offsets.length - 1) / 2), thresholds, !causal)',
      },
    ],
    configs: [{}],
    caughtBy: 'cached decoding',
  },
  {
    encoding,
    bug: 'heads in reverse order',
    seen: 'transformers#17968, TensorRT-LLM#1611',
    edits: [
      {
        file,
        find: 'rows.transpose<Tensor3D>([0, 2, 1])',
        replace: 'tf.reverse(rows, 2).transpose<Tensor3D>([0, 2, 1])',
      },
    ],
    configs: [{}],
    caughtBy: 'head permutation',
  },
  {
    encoding,
    bug: 'the first layer’s table in every layer although each has its own',
    seen: 'UMT5 ports',
    edits: [{ file, find: 'biasOf(perLayer ? index : 0, offsets)', replace: 'biasOf(0, offsets)' }],
    configs: [{ perLayer: true }],
    caughtBy: 'every parameter learns',
  },
  {
    encoding,
    bug: 'maxDistance not passed on to the bucket rule',
    seen: 'PE_investigation model_nope.py',
    edits: [
      {
        file,
        find: 't5BucketThresholds({ numBuckets, maxDistance, bidirectional: !causal });',
        replace: 't5BucketThresholds({ numBuckets, maxDistance: 128, bidirectional: !causal });',
      },
    ],
    configs: [{}, { maxDistance: 64 }],
    caughtBy: 'distinct configs',
  },
  {
    encoding,
    bug: 'a bucket rule in the hook other than the one shown: the logarithm taken in another order',
    seen: 'x-transformers#10, candle#727, transformers#17891',
    edits: [
      {
        file,
        find: buckets,
        replace: 'byLogarithm(offsets, numBuckets, maxDistance, !causal)',
      },
    ],
    helpers: `
function byLogarithm(offsets: Int32Array, numBuckets: number, maxDistance: number, bidirectional: boolean) {
  const nb = bidirectional ? numBuckets / 2 : numBuckets;
  const me = nb / 2;
  return offsets.map((rel) => {
    const n = bidirectional ? Math.abs(rel) : Math.max(-rel, 0);
    const far = me + Math.trunc(Math.log(n / me) * ((nb - me) / Math.log(maxDistance / me)));
    return (n < me ? n : Math.min(far, nb - 1)) + (bidirectional && rel > 0 ? nb : 0);
  });
}
`,
    configs: [{}],
    caughtBy: 'tables',
  },
  {
    encoding,
    bug: 'the table detached from its parameter',
    edits: [
      {
        file,
        find: 'tf.gather(table as Tensor3D, buckets, 1)',
        replace: 'tf.gather(tf.tensor3d(table.dataSync(), shape as [number, number, number]), buckets, 1)',
      },
    ],
    configs: [{}],
    caughtBy: 'every parameter learns',
  },
  {
    encoding,
    bug: 'biases looked up once in the life of the process',
    edits: [{ file, find: 'const biases = once((offsets) =>', replace: 'const biases = forever((offsets) =>' }],
    helpers: `
let kept: Tensor3D | undefined;
const forever = (lookUp: (offsets: Int32Array) => Tensor3D) => (offsets: Int32Array) => (kept ??= tf.keep(lookUp(offsets)));
`,
    configs: [{}],
    caughtBy: 'independence',
  },
  {
    encoding,
    bug: 'the row handed over transposed',
    edits: [
      {
        file,
        find: '.reshape<Tensor2D>([numHeads, -1])',
        replace: '.reshape<Tensor2D>([numHeads, -1]).transpose<Tensor2D>()',
      },
    ],
    configs: [{}],
    caughtBy: 'hook shapes',
  },
  {
    encoding,
    bug: 'unknown keys accepted in silence',
    edits: [{ file, find: '.strictObject({', replace: '.object({' }],
    configs: [{}],
    caughtBy: 'config',
  },
];
