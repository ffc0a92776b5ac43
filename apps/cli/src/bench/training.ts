/** A whole training step with each encoding beside one without, at long lengths: what positions cost in training. */
import type { BackendName } from '@posenc/backend';
import { dimsOf, type Hole, holesOf, type Registry, resolveModel } from '@posenc/core';
import { askAlone } from './alone.ts';
import type { TrainingBench } from './document.ts';
import type { Candidate } from './encodings.ts';
import type { Measuring } from './machine.ts';
import type { ModelSizes } from './problem.ts';

/** The lengths, and batches of `tokens` tokens: `tokens / length` sequences. */
export interface TrainingPlan {
  readonly sizes: ModelSizes;
  readonly tokens: number;
  readonly lengths: readonly number[];
  readonly rounds: number;
}

export interface TrainingSetting extends Omit<TrainingPlan, 'lengths'> {
  readonly candidates: readonly Candidate[];
  readonly cwd: string;
  readonly backend: BackendName;
}

export interface TrainingOptions extends TrainingPlan, Pick<TrainingSetting, 'backend' | 'cwd'>, Measuring {}

/** Holes that one fused kernel of attention serves: such encodings should cost next to nothing, however long the text. */
const streaming: readonly Hole[] = ['rotate', 'relativeBias'];

/** Which encodings to train, and which are not defined at all lengths. */
export interface Trainable {
  readonly trained: readonly Candidate[];
  readonly tooShort: readonly { readonly name: string; readonly maxPosition: number }[];
}

/** All, or of many those that attention streams, which fill such holes and no others. */
export function trainable(
  all: readonly Candidate[],
  registry: Registry,
  { sizes, lengths }: TrainingPlan,
  choose: 'all' | 'streamed',
): Trainable {
  const dims = dimsOf(resolveModel(sizes));
  const known = all.map((candidate) => ({ candidate, encoding: registry.create(candidate.config, dims) }));
  const wanted = known.filter(({ encoding }) => {
    const filled = holesOf(encoding, dims);
    return choose === 'all' || (filled.length > 0 && filled.every((hole) => streaming.includes(hole)));
  });
  const reaches = ({ encoding }: (typeof known)[number]) => encoding.traits.maxPosition >= Math.max(...lengths);
  return {
    trained: wanted.filter(reaches).map(({ candidate }) => candidate),
    tooShort: wanted
      .filter((one) => !reaches(one))
      .map(({ candidate, encoding }) => ({ name: candidate.name, maxPosition: encoding.traits.maxPosition })),
  };
}

/** @throws PosencError when one of them cannot be trained */
export async function measureTraining(all: readonly Candidate[], options: TrainingOptions): Promise<TrainingBench> {
  const { sizes, tokens, rounds, lengths, cwd, watch, signal } = options;
  const setting: TrainingSetting = { sizes, tokens, rounds, candidates: all, cwd, backend: options.backend };
  const names = all.map(({ name }) => name).join(', ');
  const { backend, answers } = await askAlone<{ length: number }, TrainingBench['cells'][number]>(
    'training-child',
    setting,
    lengths.map((length) => ({ length })),
    {
      signal,
      async before({ length }) {
        options.onProgress(`training step: ${length} tokens, ${names}`);
        await watch.rest();
      },
    },
  );
  return { backend, sizes, tokens, cells: answers };
}
