/** The standard step on every contender, in turns: A B C A B C … Each must train the same model before any time counts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PosencError } from '@posenc/core';
import { type Child, ChildEnded, startChild } from './child.ts';
import type { Entry } from './contenders.ts';
import type { ContenderResult, StandardStep } from './document.ts';
import type { Watch } from './machine.ts';
import { type StepProblem, type StepSizes, writeProblem } from './problem.ts';
import type { Ready, StepsAnswer } from './serve.ts';
import { ratios, summarize } from './stats.ts';

/** How long to measure, and who listens. */
export interface StepOptions {
  readonly sizes: StepSizes;
  readonly rounds: number;
  readonly watch: Watch;
  readonly signal: AbortSignal;
  onProgress(text: string): void;
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

interface Running {
  readonly entry: Entry;
  readonly child: Child;
  readonly ready: Exclude<Ready, { absent: string }>;
  readonly losses: number[];
  stepSeconds: number;
  /** Median step of each round it took part in. */
  readonly rounds: number[];
}

/**
 * Measures all entries; ratios are to the fastest of ours.
 * @throws PosencError when a required rival is absent, a process ends, or a contender trains another model
 */
export async function measureStandardStep(all: readonly Entry[], options: StepOptions): Promise<StandardStep> {
  const folder = mkdtempSync(join(tmpdir(), 'posenc-bench-'));
  const children: Child[] = [];
  const running: Running[] = [];
  const absent: ContenderResult[] = [];
  try {
    const problem = writeProblem(folder, options.sizes);
    for (const entry of all) {
      options.onProgress(`standard step: ${label(entry)} warms up`);
      const child = startChild(entry.contender.start(folder, entry.threads), options.signal);
      children.push(child);
      const one = await warmUp(entry, child, problem);
      if ('status' in one) absent.push(one);
      else running.push(one);
    }
    const example = running.find(({ losses }) => losses.length === comparedSteps) ?? running[0];
    if (!example) throw new PosencError('no contender of the standard step is present');
    for (const one of running) checkSameModel(one, example, problem);
    for (let round = 0; round < options.rounds; round++)
      for (const one of running) {
        if (one.stepSeconds > slowSeconds && round >= slowRounds) continue;
        await options.watch.rest();
        options.onProgress(`standard step: round ${round + 1} of ${options.rounds}, ${label(one.entry)}`);
        // About a second for each turn, so that short steps are not measured by one of them.
        await turn(one, Math.max(1, Math.min(5, Math.round(1 / one.stepSeconds))));
      }
    running.sort((a, b) => secondsOf(a) - secondsOf(b));
    const reference = running.find(({ entry }) => entry.contender.kind === 'ours') ?? running[0]!;
    return {
      sizes: options.sizes,
      parameters: reference.ready.parameters,
      reference: label(reference.entry),
      contenders: [...running.map((one) => resultOf(one, reference)), ...absent],
    };
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

const secondsOf = ({ rounds }: Running): number => summarize(rounds).median;

export const label = ({ contender: { name, threaded }, threads }: Entry): string =>
  threaded ? `${name}, ${threads} thread${threads === 1 ? '' : 's'}` : name;

/** Takes the steps whose losses are compared; they warm it up as well. */
async function warmUp(entry: Entry, child: Child, problem: StepProblem): Promise<Running | ContenderResult> {
  const { contender, threads } = entry;
  const { name, kind } = contender;
  let ready: Ready;
  try {
    ready = (await child.receive()) as Ready;
  } catch (error) {
    if (!(error instanceof ChildEnded)) throw error;
    ready = { absent: error.message };
  }
  if ('absent' in ready) {
    if (kind === 'ours' || contender.getIt)
      throw new PosencError(
        `${name} did not start: ${reasonOf(ready.absent)}${contender.getIt ? `\n  ${contender.getIt}` : ''}`,
      );
    return { name, kind, threads, status: 'absent', reason: ready.absent };
  }
  const expected = problem.params.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0);
  if (ready.parameters !== expected)
    throw new PosencError(`${name} has ${ready.parameters} parameters, and the standard step has ${expected}`);
  const one: Running = { entry, child, ready, losses: [], stepSeconds: 0, rounds: [] };
  for (let i = 0; i < comparedSteps; i++) {
    await turn(one, 1);
    if (i === 1 && one.stepSeconds > slowSeconds) break;
  }
  one.rounds.length = 0;
  return one;
}

/** Of a stack trace, the line that names the error. */
const reasonOf = (text: string): string => /^.*Error\b.*: .*$/m.exec(text)?.[0] ?? text;

async function turn(one: Running, steps: number): Promise<void> {
  one.child.send({ steps });
  const { losses, seconds } = (await one.child.receive().catch((error: Error) => {
    throw new PosencError(`${label(one.entry)}: ${error.message}`, { cause: error });
  })) as StepsAnswer;
  one.losses.push(...losses);
  one.stepSeconds = summarize(seconds).median;
  one.rounds.push(one.stepSeconds);
}

/** @throws PosencError when the losses say that this is another model, another batch or another optimiser */
export function checkSameModel(
  { entry, losses }: Pick<Running, 'entry' | 'losses'>,
  reference: Pick<Running, 'losses'>,
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

function resultOf({ entry, ready, losses, rounds }: Running, reference: Running): ContenderResult {
  const { name, kind } = entry.contender;
  return {
    name,
    kind,
    threads: ready.threads,
    status: 'measured',
    version: ready.version,
    variant: ready.variant,
    losses: losses.slice(0, comparedSteps),
    seconds: summarize(rounds),
    ratio: ratios(rounds, reference.rounds),
  };
}
