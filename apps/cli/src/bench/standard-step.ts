/** The standard step on every contender, in turns: A B C A B C … Each must train the same model before any time counts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PosencError } from '@posenc/core';
import { type Entry, usualReference } from './contenders.ts';
import { type Absent, askSurely, label, labelOf, type Running, stepsFor, withContenders } from './contest.ts';
import type { ContenderResult, StandardStep } from './document.ts';
import type { Measuring } from './machine.ts';
import { type StepProblem, type StepSizes, writeProblem } from './problem.ts';
import { ratios, summarize } from './stats.ts';

/** How long to measure, and who listens. */
export interface StepOptions extends Measuring {
  readonly sizes: StepSizes;
  readonly rounds: number;
}

/** Of the initial loss: float32 sums in another order differ by a few 1e-6. */
const sameLoss = 1e-3;
/** Of a later one: Adam's first steps turn a gradient's rounding near zero into a whole step. */
const sameTrajectory = 0.02;
/** Steps whose losses are compared; two of the slow ones. */
const comparedSteps = 5;
/** A contender slower than this takes part in the first rounds only. */
const slowSeconds = 4;
const slowRounds = 2;

interface Trainer extends Running {
  readonly losses: number[];
  stepSeconds: number;
  /** Median step of each round it took part in. */
  readonly rounds: number[];
}

/**
 * Measures all entries; ratios are to simd with all threads, without it to the fastest of ours.
 * @throws PosencError when a required rival is absent, a process ends, or a contender trains another model
 */
export async function measureStandardStep(all: readonly Entry[], options: StepOptions): Promise<StandardStep> {
  const folder = mkdtempSync(join(tmpdir(), 'posenc-bench-'));
  const trainers: Trainer[] = [];
  const absent: Absent[] = [];
  try {
    return await withContenders(options.signal, async (start) => {
      const problem = writeProblem(folder, options.sizes);
      for (const entry of all) {
        options.onProgress(`standard step: ${label(entry)} warms up`);
        const one = await start(entry, folder);
        if ('status' in one) absent.push(one);
        else trainers.push(await warmUp(one, problem));
      }
      const example = trainers.find(({ losses }) => losses.length === comparedSteps) ?? trainers[0];
      if (!example) throw new PosencError('no contender of the standard step is present');
      for (const one of trainers) checkSameModel(one, example, problem);
      for (let round = 0; round < options.rounds; round++)
        for (const one of trainers) {
          if (one.stepSeconds > slowSeconds && round >= slowRounds) continue;
          await options.watch.rest();
          options.onProgress(`standard step: round ${round + 1} of ${options.rounds}, ${label(one.entry)}`);
          await turn(one, stepsFor(1, one.stepSeconds, 5));
        }
      trainers.sort((a, b) => secondsOf(a) - secondsOf(b));
      const ours = trainers.find(({ entry }) => entry.contender.kind === 'ours');
      const reference = usualReference(trainers) ?? ours ?? trainers[0]!;
      return {
        sizes: options.sizes,
        parameters: reference.ready.parameters!,
        reference: labelOf(reference),
        contenders: [...trainers.map((one) => resultOf(one, reference)), ...absent],
      };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const secondsOf = ({ rounds }: Trainer): number => summarize(rounds).median;

/** Takes the steps whose losses are compared; they warm it up as well. */
async function warmUp(running: Running, problem: StepProblem): Promise<Trainer> {
  const { name } = running.entry.contender;
  const { parameters } = running.ready;
  const expected = problem.params.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0);
  if (parameters !== expected)
    throw new PosencError(`${name} has ${parameters} parameters, and the standard step has ${expected}`);
  const one: Trainer = { ...running, losses: [], stepSeconds: 0, rounds: [] };
  for (let i = 0; i < comparedSteps; i++) {
    await turn(one, 1);
    if (i === 1 && one.stepSeconds > slowSeconds) break;
  }
  one.rounds.length = 0;
  return one;
}

async function turn(one: Trainer, steps: number): Promise<void> {
  const { values, seconds } = await askSurely(one, { steps });
  one.losses.push(...values);
  one.stepSeconds = summarize(seconds).median;
  one.rounds.push(one.stepSeconds);
}

/** @throws PosencError when the losses say that this is another model, another batch or another optimiser */
export function checkSameModel(
  { entry, losses }: Pick<Trainer, 'entry' | 'losses'>,
  reference: Pick<Trainer, 'losses'>,
  { sizes }: Pick<StepProblem, 'sizes'>,
): void {
  const fail = (what: string) => {
    throw new PosencError(`${label(entry)} does not take the standard step: ${what}`);
  };
  const [first = Number.NaN] = losses;
  const chance = Math.log(sizes.vocabSize);
  if (!(Math.abs(first - chance) < 0.2)) fail(`its first loss is ${first}, and an untrained model has about ${chance}`);
  losses.forEach((loss, i) => {
    const theirs = reference.losses[i];
    const allowed = i === 0 ? sameLoss : sameTrajectory;
    if (theirs !== undefined && !(Math.abs(loss - theirs) <= allowed))
      fail(`loss ${i + 1} is ${loss}, and the reference has ${theirs}`);
  });
  if (!(losses.at(-1)! < first)) fail(`its loss does not fall (${losses.join(', ')})`);
}

function resultOf({ entry, ready, losses, rounds }: Trainer, reference: Trainer): ContenderResult {
  const { name, kind } = entry.contender;
  return {
    name,
    kind,
    threads: ready.threads,
    status: 'measured',
    version: ready.version,
    variant: ready.variant,
    losses: losses.slice(0, comparedSteps),
    rounds,
    seconds: summarize(rounds),
    ratio: ratios(rounds, reference.rounds),
  };
}
