/** Planted in where RoPE reads positions and lengths from, and in what it remembers of earlier calls. */
import type { Mutant } from '../mutant.ts';
import { encoding, file, rotate } from './rope-source.ts';

const tablesAt = 'const tensors = rotaryTensors(tablesAt(positions));';
const remember =
  'const table = known.get(key) ?? tablesAt(positions); known.set(key, table); const tensors = rotaryTensors(table);';
const known = 'const known = new Map<string, RotaryTables>();\n';
/** The positions of the call, each replaced by an expression over its column t. */
const placedAt = (expression: string) => `const { cols, data } = positions.query;
  const query = { ...positions.query, data: data.map((_, t) => ${expression}) };
  const tensors = rotaryTensors(tablesAt({ ...positions, query }));`;
const dynamic = { scaling: { type: 'dynamic', factor: 2, originalMaxPositionEmbeddings: 16 } };

export const ropePositionMutants: readonly Mutant[] = [
  {
    encoding,
    bug: 'positions restart in every call of a decoding session',
    seen: 'keras-hub#1544, transformers#15751',
    edits: [
      {
        file,
        find: tablesAt,
        replace: placedAt('t % cols'),
      },
    ],
    configs: [{}],
    caughtBy: 'cached decoding',
  },
  {
    encoding,
    bug: 'positions counted over columns from the first token on',
    seen: 'transformers#22069, #22161 (harmless under a relative encoding until positions have gaps)',
    edits: [
      {
        file,
        find: tablesAt,
        replace: placedAt('data[0]! + (t % cols)'),
      },
    ],
    configs: [{}],
    caughtBy: 'position sensitivity',
  },
  {
    encoding,
    bug: 'keys cached unrotated: turned only when queries and keys are equally many',
    seen: 'gpt-neox#363',
    edits: [
      {
        file,
        find: rotate,
        replace:
          "rotate: (u, side) => (side === 'key' && positions.query.cols !== positions.key.cols ? u : applyRotary(u, tensors, config.pairing))",
      },
    ],
    configs: [{}],
    caughtBy: 'cached decoding',
  },
  {
    encoding,
    bug: 'a table cached by length alone, the offset ignored',
    seen: 'rotary-embedding-torch#11, #12, #15, #18, #27',
    edits: [
      {
        file,
        find: tablesAt,
        replace: `const { rows, cols } = positions.query; const key = JSON.stringify([rows, cols, config, headDim]); ${remember}`,
      },
    ],
    helpers: known,
    configs: [{}],
    caughtBy: 'cached decoding',
  },
  {
    encoding,
    bug: 'a table cached for all configs',
    seen: 'LLMs-from-scratch#410',
    edits: [
      {
        file,
        find: tablesAt,
        replace: `const key = [positions.query.rows, positions.query.data].join(); ${remember}`,
      },
    ],
    helpers: known,
    configs: [{}, { base: 100 }],
    caughtBy: 'independence',
  },
  {
    encoding,
    bug: 'dynamic NTK follows the longest row of the batch',
    seen: 'transformers#25104',
    edits: [
      {
        file,
        find: 'frequenciesFor(at(seqLen, row, column))',
        replace: 'frequenciesFor(at(seqLen, row, column) * 0 + Math.max(...seqLen.data))',
      },
    ],
    configs: [dynamic],
    caughtBy: 'padding',
  },
  {
    encoding,
    bug: 'dynamic NTK follows the highest position of the call: keys cached under several bases',
    seen: 'transformers#25104, #46624, #33129',
    edits: [
      {
        file,
        find: 'frequenciesFor(at(seqLen, row, column))',
        replace: 'frequenciesFor(at(seqLen, row, column) * 0 + Math.max(...query.data) + 1)',
      },
    ],
    configs: [dynamic],
    caughtBy: 'cached decoding',
  },
  {
    encoding,
    bug: 'dynamic NTK remembers the longest sequence seen',
    seen: 'transformers dynamic_frequency_update',
    edits: [
      {
        file,
        find: 'frequenciesFor(at(seqLen, row, column))',
        replace: 'frequenciesFor((longest = Math.max(longest, at(seqLen, row, column))))',
      },
    ],
    helpers: 'let longest = 0;\n',
    configs: [dynamic],
    caughtBy: 'determinism',
  },
  {
    encoding,
    bug: 'the trait readsSeqLen denied',
    edits: [{ file, find: '          readsSeqLen,\n        },', replace: '          readsSeqLen: false,\n        },' }],
    configs: [dynamic],
    caughtBy: 'sequence length',
  },
];
