/** From finished trials to what a comparison says. Plain data: the report, the tables and `--json` all read this. */

import type { Control, ProblemSizes, Task } from '@posenc/tasks';
import { fixedTargets, type Score } from './evaluate.ts';
import { describeRuntime, distinctRuntimes, type Runtime } from './runtime.ts';
import type { Environment } from './spec.ts';
import { type PairedDifference, pairedDifference, type Spread, spread } from './stats.ts';
import { nameOf, type Suite } from './suite.ts';
import type { TrialResult } from './trial.ts';

/** One entry at one length, over the seeds. */
export interface Cell {
  readonly multiple: number;
  readonly length: number;
  /** undefined: past the encoding's end · diverged: training blew up for a seed · ok */
  readonly status: 'ok' | 'undefined' | 'diverged';
  /** Nats per token over the fixed targets (tasks of problems: over the answers). */
  readonly loss?: Spread;
  readonly accuracy?: Spread;
  /** Tasks of problems: share of answers with every token right. */
  readonly exactMatch?: Spread;
  /** Of the loss, to the baseline at the same length; absent for the baseline itself and where either is missing. */
  readonly difference?: PairedDifference;
  /** Of the exact match, likewise; here higher is better. */
  readonly exactMatchDifference?: PairedDifference;
}

/** One entry at every length. */
export interface Row {
  readonly name: string;
  /** The entry whose trained weights this is; another name than its own for an evaluation-time override. */
  readonly trainedAs: string;
  readonly encoding: object;
  readonly cells: readonly Cell[];
  /** Mean over seeds of the loss by position, non-overlapping windows. */
  readonly positions: readonly number[] | null;
}

/** What one column of a task of problems was measured on. */
export interface ProblemSet {
  readonly multiple: number;
  /** How many problems. */
  readonly count: number;
  /** Absent: the task does not say. */
  readonly sizes?: ProblemSizes;
}

/** A whole comparison as it stands in results.json: rows, controls, differences, and where the numbers come from. */
export interface Comparison {
  readonly kind: 'posenc comparison';
  readonly suite: Suite;
  readonly baseline: string;
  /** Tasks of problems only: what stands at 1× (as in training, always here), 2×, …. Targets differ between these, and the score to read is `exactMatch`. */
  readonly problems?: readonly ProblemSet[];
  readonly rows: readonly Row[];
  /** What counting reaches at 1× (text: unigram and bigram), and every entry with its position numbers shuffled at 1×. */
  readonly controls: {
    readonly data: readonly Control[];
    readonly shuffled: readonly { readonly name: string; readonly loss: Spread; readonly exactMatch?: Spread }[];
  };
  readonly costs: readonly {
    readonly name: string;
    readonly parameters: { readonly total: number; readonly encoding: number };
    readonly medianStepSeconds: number;
    readonly tokensPerSecond: number;
  }[];
  readonly trials: readonly TrialResult[];
  readonly environment: {
    /** Of all that computed, where there was more than one: `simd relaxed and cpu javascript`. */
    readonly backend: string;
    /** Likewise. */
    readonly processor: string;
    /** Only where there was more than one. */
    readonly runtimes?: readonly Runtime[];
    readonly versions: Readonly<Record<string, string>>;
  } & Readonly<Record<string, unknown>>;
}

/** Makes it from finished trials: means and spreads over seeds, paired differences to the baseline, controls. */
export function summarize(
  suite: Suite,
  trials: readonly TrialResult[],
  task: Task,
  environment: Environment,
  provenance: Readonly<Record<string, unknown>>,
): Comparison {
  const baseline = suite.baseline ?? nameOf(suite.encodings[0]!);
  const of = (name: string) => suite.seeds.map((seed) => trials.find((t) => t.name === name && t.seed === seed)!);
  const baselineTrials = of(baseline);
  const rows = suite.encodings.flatMap((entry) => {
    const mine = of(nameOf(entry));
    const variants = [{ name: nameOf(entry), encoding: entry.encoding as object }, ...entry.evaluate];
    return variants.map(
      ({ name, encoding }): Row => ({
        name,
        trainedAs: nameOf(entry),
        encoding,
        cells: suite.evaluation.multiples.map((multiple) =>
          cell(multiple, multiple * suite.training.length, name, mine, baseline, baselineTrials),
        ),
        positions: meanPositions(mine, name),
      }),
    );
  });
  const runtimes = distinctRuntimes(trials.flatMap((trial) => trial.runtimes));
  return {
    kind: 'posenc comparison',
    suite,
    baseline,
    ...(task.rowsAreProblems && { problems: problemSets(suite, task) }),
    rows,
    controls: {
      data: task.controls(fixedTargets(task, suite.training.length, 1, suite.evaluation)),
      shuffled: suite.encodings.flatMap((entry) => {
        const scores = of(nameOf(entry)).flatMap((t) => (typeof t.shuffled?.loss === 'number' ? t.shuffled : []));
        if (scores.length < suite.seeds.length) return [];
        return [{ name: nameOf(entry), loss: spread(scores.map((score) => score.loss)), ...exactMatchOf(scores) }];
      }),
    },
    costs: suite.encodings.map((entry) => {
      const mine = of(nameOf(entry));
      const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
      return {
        name: nameOf(entry),
        parameters: mine[0]!.parameters,
        medianStepSeconds: median(mine.map((t) => t.timing.medianStepSeconds)),
        tokensPerSecond: median(mine.map((t) => t.timing.tokensPerSecond)),
      };
    }),
    trials,
    environment: {
      backend: each(runtimes.map(describeRuntime)),
      processor: each(runtimes.map(({ processor }) => processor)),
      ...(runtimes.length > 1 && { runtimes }),
      versions: environment.versions,
      ...provenance,
    },
  };
}

const each = (texts: readonly string[]): string => [...new Set(texts)].join(' and ');

const problemSets = ({ evaluation, training }: Suite, task: Task): ProblemSet[] =>
  [...new Set([1, ...evaluation.multiples])].map((multiple) => {
    const batches = fixedTargets(task, training.length, multiple, evaluation);
    const sizes = task.problemSizes?.(multiple);
    return { multiple, count: batches.reduce((sum, { targets }) => sum + targets.rows, 0), ...(sizes && { sizes }) };
  });

const exactMatches = (scores: readonly (Score | null)[]): number[] =>
  scores.flatMap((score) => score?.exactMatch ?? []);

function exactMatchOf(scores: readonly (Score | null)[]): { readonly exactMatch?: Spread } {
  const values = exactMatches(scores);
  return values.length > 0 ? { exactMatch: spread(values) } : {};
}

const evaluationOf = (trial: TrialResult, name: string) => trial.evaluations.find((e) => e.name === name);
const scoreOf = (trial: TrialResult, name: string, multiple: number) =>
  evaluationOf(trial, name)?.lengths.find((entry) => entry.multiple === multiple)?.score ?? null;

function cell(
  multiple: number,
  length: number,
  name: string,
  mine: readonly TrialResult[],
  baseline: string,
  theirs: readonly TrialResult[],
): Cell {
  if (mine.some((trial) => trial.status === 'diverged')) return { multiple, length, status: 'diverged' };
  const scores = mine.map((trial) => scoreOf(trial, name, multiple));
  if (scores.some((score) => score === null)) return { multiple, length, status: 'undefined' };
  const losses = scores.map((score) => score!.loss);
  const exact = exactMatches(scores);
  const references = theirs.flatMap((trial) => scoreOf(trial, baseline, multiple) ?? []);
  const comparable = name !== baseline && references.length === theirs.length;
  return {
    multiple,
    length,
    status: 'ok',
    loss: spread(losses),
    accuracy: spread(scores.map((score) => score!.accuracy)),
    ...exactMatchOf(scores),
    ...(comparable && {
      difference: pairedDifference(
        losses,
        references.map(({ loss }) => loss),
      ),
      ...(exact.length > 0 && { exactMatchDifference: pairedDifference(exact, exactMatches(references)) }),
    }),
  };
}

function meanPositions(trials: readonly TrialResult[], name: string): number[] | null {
  const curves = trials.map((trial) => evaluationOf(trial, name)?.positions ?? null);
  if (curves.some((curve) => curve === null)) return null;
  return curves[0]!.map((_, t) => curves.reduce((sum, curve) => sum + curve![t]!, 0) / curves.length);
}
