import type { Mutant } from '../mutant.ts';

const file = 'learned.ts';
const encoding = 'learned';
const indices = 'const indices = Int32Array.from(data, (p) => rowOf(p) + offset);';
const gather = 'return tf.gather(table, tf.tensor2d(indices';

export const learnedMutants: readonly Mutant[] = [
  {
    encoding,
    bug: 'positions past the end of the table clipped instead of refused',
    seen: 'transformers#8077, gather on GPU backends',
    edits: [
      {
        file,
        find: 'const maxPosition = learnedMaxPosition(config);',
        replace: 'const maxPosition = Number.POSITIVE_INFINITY;',
      },
      { file, find: 'none: () => read((p) => p),', replace: 'none: () => read((p) => Math.min(p, numPositions - 1)),' },
    ],
    configs: [{ numPositions: 140 }],
    caughtBy: 'shift invariance',
  },
  {
    encoding,
    bug: 'the last row clipped away: an index limited one too low',
    edits: [
      { file, find: 'none: () => read((p) => p),', replace: 'none: () => read((p) => Math.min(p, numPositions - 2)),' },
    ],
    configs: [{ numPositions: 140 }],
    caughtBy: 'maximal position',
  },
  {
    encoding,
    bug: 'offset rows counted as positions: maxPosition beyond the table',
    seen: 'transformers#8077 (100 of 0 … 99)',
    edits: [
      {
        file,
        find: 'const slack = 1e-9;',
        replace: 'numPositions += 2; const slack = 1e-9;',
      },
    ],
    configs: [{ numPositions: 140, offset: 1 }],
    caughtBy: 'maximal position',
  },
  {
    encoding,
    bug: 'positions restart in every call of a decoding session',
    seen: 'transformers#15751',
    edits: [
      { file, find: indices, replace: 'const indices = Int32Array.from(data, (_, t) => rowOf(t % cols) + offset);' },
    ],
    configs: [{ numPositions: 140 }],
    caughtBy: 'cached decoding',
  },
  {
    encoding,
    bug: 'positions counted over columns instead of real tokens',
    seen: 'transformers#22069, #48028',
    edits: [
      {
        file,
        find: indices,
        replace: 'const indices = Int32Array.from(data, (_, t) => rowOf(extent(query)[0] + (t % cols)) + offset);',
      },
    ],
    configs: [{ numPositions: 140 }],
    caughtBy: 'padding',
  },
  {
    encoding,
    bug: 'the table detached from its parameter',
    seen: 'NeMo KERPLE (a parameter that is none)',
    edits: [
      { file, find: gather, replace: 'return tf.gather(tf.tensor(table.dataSync(), table.shape), tf.tensor2d(indices' },
    ],
    configs: [{ numPositions: 140 }],
    caughtBy: 'every parameter learns',
  },
  {
    encoding,
    bug: 'half of the table’s gradient lost on its way',
    edits: [
      {
        file,
        find: gather,
        replace:
          'return tf.gather(tf.add(tf.mul(table, 0.5), tf.mul(tf.tensor(table.dataSync(), table.shape), 0.5)), tf.tensor2d(indices',
      },
    ],
    configs: [{ numPositions: 140 }],
    caughtBy: 'gradients',
  },
  {
    encoding,
    bug: 'initStd read and forgotten',
    edits: [{ file, find: "{ kind: 'normal', std: initStd,", replace: "{ kind: 'normal', std: 0.02," }],
    configs: [{ numPositions: 140 }, { numPositions: 140, initStd: 0.5 }],
    caughtBy: 'distinct configs',
  },
  {
    encoding,
    bug: 'initial values drawn when the encoding is created: they follow the order of creation, not the seed',
    seen: 'transformers#29807, #29813, #29904',
    edits: [
      {
        file,
        find: "{ kind: 'normal', std: initStd, ...(mean !== 0 && { mean }) }",
        replace:
          "{ kind: 'values', values: Array.from({ length: (numPositions + offset) * dim }, () => normal(order)) }",
      },
    ],
    helpers: "const order = stream(0, 'order');\n",
    configs: [{ numPositions: 140 }],
    caughtBy: 'determinism',
  },
  {
    encoding,
    bug: 'untrained rows drawn from Math.random',
    edits: [{ file, find: 'std * normal(random)', replace: 'std * (normal(random) + Math.random())' }],
    configs: [{ numPositions: 16, initStd: 1, extend: 'untrained', factor: 10 }],
    caughtBy: 'determinism',
  },
  {
    encoding,
    bug: 'unknown keys accepted in silence',
    edits: [{ file, find: '.strictObject({', replace: '.object({' }],
    configs: [{ numPositions: 140 }],
    caughtBy: 'config',
  },
];
