/** What a comparison has done so far, from its events. */
import type { CompareEvent, PlannedTrial, TrialProgress, TrialResult } from '@posenc/training';

export interface Tracked {
  readonly trial: PlannedTrial;
  readonly state: 'waiting' | 'running' | 'finished' | 'diverged' | 'stopped';
  readonly progress?: TrialProgress;
  readonly result?: TrialResult;
}

export interface Tracker {
  apply(event: CompareEvent): void;
  all(): readonly Tracked[];
  /** 0 to 1, of the work this run has to do. */
  share(): number;
  /** Seconds left, once there is something to judge by. */
  secondsLeft(): number | undefined;
}

/** Training counts its steps; evaluation, measured on small models, takes about a sixth of the whole. */
const trainingShare = 0.85;

export function createTracker(trials: readonly PlannedTrial[], now: () => number = () => performance.now()): Tracker {
  const pending = new Map<PlannedTrial, Tracked>(
    trials.filter((t) => !t.result).map((trial) => [trial, { trial, state: 'waiting' }]),
  );
  const started = now();
  // A trial taken up again has steps behind it that this run did not do.
  const inherited = new Map<PlannedTrial, number>();

  const work = ({ state, progress }: Tracked): number => {
    if (state === 'finished' || state === 'diverged') return 1;
    if (!progress) return 0;
    const done = progress.done / progress.total;
    return progress.phase === 'train' ? trainingShare * done : trainingShare + (1 - trainingShare) * done;
  };
  const totals = () => {
    const done = [...pending.values()].reduce((sum, tracked) => sum + work(tracked), 0);
    const given = [...inherited.values()].reduce((sum, share) => sum + share, 0);
    return { done: done - given, all: pending.size - given };
  };

  return {
    apply(event) {
      const before = pending.get(event.trial)!;
      if (event.kind === 'start') pending.set(event.trial, { trial: event.trial, state: 'running' });
      else if (event.kind === 'stop') pending.set(event.trial, { ...before, state: 'stopped' });
      else if (event.kind === 'finish')
        pending.set(event.trial, { ...before, state: event.result.status, result: event.result });
      else if (event.kind === 'progress') {
        const { progress, trial } = event;
        if (!before.progress && progress.phase === 'train')
          inherited.set(trial, (trainingShare * (progress.done - 1)) / progress.total);
        pending.set(trial, { ...before, progress });
      }
    },
    all: () =>
      trials.map((trial) => pending.get(trial) ?? { trial, state: trial.result!.status, result: trial.result }),
    share: () => (pending.size === 0 ? 1 : totals().done / totals().all),
    secondsLeft() {
      const { done, all } = totals();
      const seconds = (now() - started) / 1000;
      return done > 0.02 * all && seconds > 3 ? (seconds * (all - done)) / done : undefined;
    },
  };
}
