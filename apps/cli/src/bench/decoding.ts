/** One more token through the cache, against computing the whole text again, at several lengths. */
import type { BackendName } from '@posenc/backend';
import { askAlone } from './alone.ts';
import type { DecodingBench } from './document.ts';
import type { Measuring } from './machine.ts';
import type { ModelSizes } from './problem.ts';

export interface DecodingSetting {
  readonly sizes: ModelSizes;
  readonly lengths: readonly number[];
  readonly rounds: number;
  readonly backend: BackendName;
}

export type DecodingOptions = DecodingSetting & Measuring;

export async function measureDecoding(options: DecodingOptions): Promise<DecodingBench> {
  const { sizes, lengths, rounds, watch, signal } = options;
  const setting: DecodingSetting = { sizes, lengths, rounds, backend: options.backend };
  const { backend, answers } = await askAlone<object, Pick<DecodingBench, 'cells' | 'ratio'>>(
    'decoding-child',
    setting,
    [{}],
    {
      signal,
      async before() {
        options.onProgress(`decoding: ${lengths.join(' and ')} tokens`);
        await watch.rest();
      },
    },
  );
  return { backend, sizes, ...answers[0]! };
}
