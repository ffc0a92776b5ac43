import type { Mutant } from '../mutant.ts';

const file = 'nope.ts';
const encoding = 'nope';

export const nopeMutants: readonly Mutant[] = [
  {
    encoding,
    bug: 'the trait readsPositions claimed without ground',
    edits: [{ file, find: 'readsPositions: false', replace: 'readsPositions: true' }],
    configs: [{}],
    caughtBy: 'position sensitivity',
  },
  {
    encoding,
    bug: 'the trait shiftInvariant under-claimed',
    edits: [{ file, find: 'shiftInvariant: true', replace: 'shiftInvariant: false' }],
    configs: [{}],
    caughtBy: 'shift invariance',
  },
  {
    encoding,
    bug: 'the trait readsSeqLen claimed without ground',
    edits: [{ file, find: 'readsSeqLen: false', replace: 'readsSeqLen: true' }],
    configs: [{}],
    caughtBy: 'sequence length',
  },
  {
    encoding,
    bug: 'a causal stack required in the trait, and a bidirectional one created all the same',
    edits: [
      {
        file,
        find: 'requiresCausal: false',
        replace: "get requiresCausal() { return !new Error().stack!.includes('createTransformer'); }",
      },
    ],
    configs: [{}],
    caughtBy: 'causal or bidirectional',
  },
  {
    encoding,
    bug: 'a hook filled that does nothing',
    edits: [{ file, find: 'hooks: () => () => ({}),', replace: 'hooks: () => () => ({ embed: (x) => x }),' }],
    configs: [{}],
    caughtBy: 'effect',
  },
  {
    encoding,
    bug: 'a maximal position that is no position',
    edits: [{ file, find: 'maxPosition: Number.POSITIVE_INFINITY', replace: 'maxPosition: 63.5' }],
    configs: [{}],
    caughtBy: 'maximal position',
  },
];
