/** The evaluation of a trained trial: at every length, as trained and under other configs, and with positions shuffled. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Task } from '@posenc/tasks';
import { evaluateAt, evaluatePositions, evaluateShuffled, type Score } from './evaluate.ts';
import { type Environment, overridden, type TrialSpec } from './spec.ts';
import type { Session } from './train.ts';
import type { RunOptions } from './trial.ts';

/** Scores of the trained weights at every length, as trained or under another config. */
export interface Evaluation {
  readonly name: string;
  /** null for the encoding as trained. */
  readonly override: object | null;
  readonly lengths: readonly { readonly multiple: number; readonly length: number; readonly score: Score | null }[];
  /** Loss by position in non-overlapping windows of the longest length at which the encoding is defined. */
  readonly positions: readonly number[] | null;
}

/** Undefined when the signal stopped it. */
export async function evaluateTrial(
  session: Session,
  status: 'finished' | 'diverged',
  spec: TrialSpec,
  task: Task,
  environment: Environment,
  options: RunOptions,
): Promise<{ evaluations: Evaluation[]; shuffled: Score | null } | undefined> {
  if (status === 'diverged') return { evaluations: [], shuffled: null };
  const { training, evaluation } = spec;
  const variants = [
    { name: spec.name, override: null as object | null },
    ...spec.overrides.map((o) => ({ name: o.name, override: o.encoding as object | null })),
  ];
  const total = variants.length * (evaluation.multiples.length + 1);
  const evaluations: Evaluation[] = [];
  let done = 0;
  const tick = async () => {
    options.onProgress?.({ phase: 'evaluate', done: ++done, total });
    await nextTurn();
    return options.signal?.aborted !== true;
  };
  for (const { name, override } of variants) {
    const modelAt = (multiple: number) =>
      override ? overridden(spec, task, environment, name, override, multiple) : session.model;
    const lengths = [];
    for (const multiple of evaluation.multiples) {
      const score = await evaluateAt(modelAt(multiple), session.params, task, training.length, multiple, evaluation);
      lengths.push({ multiple, length: multiple * training.length, score });
      if (!(await tick())) return undefined;
    }
    const defined = lengths.filter((entry) => entry.score).map((entry) => entry.multiple);
    const longest = Math.max(...defined);
    const positions = defined.length
      ? await evaluatePositions(modelAt(longest), session.params, task, training.length, longest, evaluation)
      : null;
    evaluations.push({ name, override, lengths, positions });
    if (!(await tick())) return undefined;
  }
  const shuffled = await evaluateShuffled(session.model, session.params, task, training.length, evaluation, spec.seed);
  return { evaluations, shuffled };
}
