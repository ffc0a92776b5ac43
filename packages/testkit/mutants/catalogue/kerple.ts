import type { Mutant } from '../mutant.ts';

const encoding = 'kerple';

export const kerpleMutants: readonly Mutant[] = [
  {
    encoding,
    bug: 'distances looked up in a table of fixed length: not a number past its end',
    edits: [
      {
        file: 'kernels.ts',
        find: 'f(Math.abs(offset))',
        replace: 'f(Array.from({ length: 141 }, (_, d) => d)[Math.abs(offset)] ?? Number.NaN)',
      },
    ],
    configs: [{}],
    caughtBy: 'far positions',
  },
];
