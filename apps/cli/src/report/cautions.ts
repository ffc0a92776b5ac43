/** What a reader must know before trusting the numbers: computed too, so that it fits the run. */
import { describeRuntime } from '@posenc/training';
import type { LossCurve } from './curves.ts';
import { count, listed, rough } from './format.ts';
import { measureOf } from './measure.ts';
import { problemNotes } from './problem-cautions.ts';
import { examplesPerTrial, meanAt, type Reading, rowOf } from './reading.ts';

export function cautions(reading: Reading, curves: readonly LossCurve[]): string[] {
  return [
    seedsNote(reading),
    verdictsNote(reading),
    budgetNote(reading),
    sizeNote(reading),
    ...(reading.problems ? problemNotes(reading) : [sampleNote(reading)]),
    controlsNote(reading),
    driftNote(reading),
    ...missingNotes(reading, curves),
  ].filter((note) => note !== undefined);
}

function seedsNote({ seeds, problems }: Reading): string {
  if (seeds === 1)
    return `One seed: how much ${problems ? 'an exact match' : 'a loss'} varies from run to run is not known, so no difference in this report has a verdict. Use three seeds or more before choosing an encoding.`;
  const few = seeds < 5 ? ' With so few, “no clear difference” often means “not enough seeds”, not “the same”.' : '';
  return `${count(seeds, 'seed')}: a difference is called clear when the 95 % interval of the mean difference, paired seed by seed (Student’s t, ${count(seeds - 1, 'degree')} of freedom), excludes 0.${few}`;
}

function verdictsNote(reading: Reading): string | undefined {
  const { comparison, seeds } = reading;
  const { paired } = measureOf(reading);
  const verdicts = comparison.rows.flatMap((row) => row.cells.flatMap((cell) => paired(cell)?.verdict ?? []));
  if (seeds === 1 || verdicts.length === 0) return undefined;
  const clear = verdicts.filter((verdict) => verdict !== 'no clear difference').length;
  const chance = Math.max(1, Math.round(verdicts.length / 20));
  return `Of ${count(verdicts.length, 'comparison')} with the baseline, ${clear} ${clear === 1 ? 'is' : 'are'} clear. At 95 % about ${chance} of ${verdicts.length} would look clear by chance alone.`;
}

/** The token budget must be the same for all; where it isn't, or other settings aren't, a reader must know. */
function budgetNote({ comparison }: Reading): string | undefined {
  const { suite, trials } = comparison;
  const budgets = new Set(trials.filter((trial) => trial.status === 'finished').map((trial) => trial.tokens));
  const own = suite.encodings.flatMap(({ name, encoding, model, training }) => {
    const settings = [...differing(model, suite.model), ...differing(training, suite.training)];
    return settings.length > 0 ? [`${name ?? encoding.type} (${settings.join(', ')})`] : [];
  });
  const notes = [
    budgets.size > 1 && 'Not all were trained on the same number of tokens.',
    own.length > 0 && `With settings of their own: ${listed(own)}.`,
  ].filter((note) => note !== false);
  return notes.length > 0 ? notes.join(' ') : undefined;
}

/** Settings of an entry that are not the suite's, as text. */
function differing(own: object | undefined, shared: object): string[] {
  const texts = new Map(Object.entries(shared).map(([key, value]) => [key, JSON.stringify(value)]));
  return Object.entries(own ?? {})
    .filter(([key, value]) => JSON.stringify(value) !== texts.get(key))
    .map(([key, value]) => `${key} ${JSON.stringify(value)}`);
}

function sizeNote(reading: Reading): string | undefined {
  const { comparison } = reading;
  const parameters = Math.max(...comparison.costs.map((cost) => cost.parameters.total));
  const { n, noun } = examplesPerTrial(reading);
  if (!Number.isFinite(parameters) || parameters > 1e8) return undefined;
  return `A small model (${rough(parameters)} parameters), trained on ${rough(n)} ${noun}: the order at this size need not be the order of large models, longer training or other data.${comparison.suite.encodings.some((entry) => entry.training) ? '' : ' One learning rate and schedule for all may suit some encodings better than others.'}`;
}

function sampleNote({ comparison, unit }: Reading): string | undefined {
  const tokens = comparison.trials
    .flatMap((trial) => trial.evaluations.flatMap((evaluation) => evaluation.lengths))
    .map((entry) => entry.score?.tokens)
    .find((n) => n !== undefined);
  if (tokens === undefined) return undefined;
  return `Each loss is a mean over ${count(tokens, unit)}, the same for every row and length. The spread is over seeds alone; another evaluation text would shift all rows, mostly together.`;
}

function controlsNote({ comparison, problems }: Reading): string | undefined {
  return comparison.controls.data.length === 0
    ? `This task brings no control rows: nothing here says what ${problems ? 'guessing' : 'a model without context'} would reach.`
    : undefined;
}

function driftNote({ comparison }: Reading): string | undefined {
  const { runtimes = [] } = comparison.environment;
  if (runtimes.length < 2) return undefined;
  const all = listed(runtimes.map((runtime) => `${describeRuntime(runtime)} (${runtime.processor})`));
  return `Computed by ${all}, one after the other: the last bits of these numbers cannot be had again on one of them alone.`;
}

function missingNotes(reading: Reading, curves: readonly LossCurve[]): (string | undefined)[] {
  const { comparison, first } = reading;
  const without = comparison.trials
    .filter(({ name, seed }) => !curves.some((c) => c.name === name && c.seed === seed && c.points.length > 0))
    .map(({ name, seed }) => `${name} (seed ${seed})`);
  const baseline = rowOf(reading, comparison.baseline);
  return [
    without.length > 0 ? `No training metrics found, so no loss curve: ${listed(without)}.` : undefined,
    comparison.rows.length > 1 && meanAt(baseline, first) === undefined
      ? `The baseline, ${comparison.baseline}, has no loss, so there are no differences to it. Name another with "baseline" in the suite.`
      : undefined,
  ];
}
