import type { CompareEvent, PlannedTrial, TrialResult } from '@posenc/training';
import { describe, expect, it } from 'vitest';
import { duration } from '../src/progress/duration.ts';
import { createTracker } from '../src/progress/tracker.ts';
import { createView } from '../src/progress/view.ts';

const trial = (name: string, result?: object) =>
  ({ id: name, folder: name, spec: { name, seed: 1 }, result }) as unknown as PlannedTrial;
const finished = {
  status: 'finished',
  steps: 10,
  evaluations: [{ lengths: [{ multiple: 1, score: { loss: 2.5 } }] }],
  timing: { trainSeconds: 61 },
} as unknown as TrialResult;
const progress = (of: PlannedTrial, done: number, phase: 'train' | 'evaluate' = 'train'): CompareEvent => ({
  kind: 'progress',
  trial: of,
  progress: { phase, done, total: 10, loss: 3, tokensPerSecond: 1234.5 },
});

describe('duration', () => {
  it.each([
    [4.4, '4 s'],
    [185, '3 min 05 s'],
    [7620, '2 h 07 min'],
  ])('%d seconds', (seconds, text) => expect(duration(seconds)).toBe(text));
});

describe('the tracker', () => {
  it('counts only what this run has to do, and tells the time left from it', () => {
    let now = 0;
    const [a, b, old] = [trial('a'), trial('b'), trial('old', finished)];
    const tracker = createTracker([a, b, old], () => now);
    expect(tracker.share()).toBe(0);
    expect(tracker.secondsLeft()).toBeUndefined();
    tracker.apply({ kind: 'start', trial: a });
    tracker.apply(progress(a, 1));
    tracker.apply(progress(a, 10));
    expect(tracker.share()).toBeCloseTo(0.85 / 2);
    now = 17_000;
    expect(tracker.secondsLeft()).toBeCloseTo(23);
    tracker.apply({ kind: 'finish', trial: a, result: finished });
    tracker.apply({ kind: 'start', trial: b });
    tracker.apply(progress(b, 6)); // taken up again at step 6: five steps were there already
    expect(tracker.share()).toBeCloseTo((1 + 0.085) / (2 - 0.425));
    expect(tracker.all().map((t) => t.state)).toEqual(['finished', 'running', 'finished']);
  });
});

describe('the view', () => {
  const record = (columns?: number) => {
    let text = '';
    return {
      output: {
        color: false,
        columns,
        write: (chunk: string) => {
          text += chunk;
        },
      },
      text: () => text,
    };
  };
  const [a, b] = [trial('a'), trial('a longer name')];

  it('is plain lines where there is no terminal', () => {
    const { output, text } = record();
    const view = createView(output, [a, b]);
    for (const event of [
      { kind: 'start', trial: a },
      progress(a, 5),
      { kind: 'notice', trial: a, message: 'a checkpoint was skipped' },
      { kind: 'finish', trial: a, result: finished },
      { kind: 'stop', trial: b },
    ] as CompareEvent[])
      view.apply(event);
    view.close();
    expect(text()).toBe(
      'a, seed 1: a checkpoint was skipped\n[1/2] a, seed 1: loss 2.500 at 1×, 1 min 01 s of training\na longer name, seed 1: stopped\n',
    );
  });

  it('redraws a bar per trial on a terminal, within its width', () => {
    const { output, text } = record(60);
    const view = createView(output, [a, b]);
    view.apply({ kind: 'start', trial: a });
    view.apply(progress(a, 5));
    view.apply({ kind: 'start', trial: b });
    const last = text().split('\x1b[0J').at(-1)!;
    expect(last.split('\n')).toEqual([
      'a, seed 1             ████████░░░░░░░░ step 5/10, loss 3.000',
      'a longer name, seed 1 ░░░░░░░░░░░░░░░░ starting',
      '0 of 2 trials, 5 %',
      '',
    ]);
    view.apply({ kind: 'finish', trial: a, result: finished });
    expect(text().split('\x1b[0J').at(-1)).toContain('a, seed 1             ████████████████ loss 2.500 at 1×\n');
  });
});
