/**
 * Tasks made of problems: a family says how problems are drawn and written; here they become a task with a train / test
 * split, padded rows, sizes beyond training and controls.
 *
 * Split: a hash of a problem's key puts it on one side for ever, so that endless training never meets a test problem.
 * Sizes: training has 1 … N. Evaluation at k times the training length has test problems of the same distribution at k = 1,
 * and sizes (k − 1)·N + 1 … k·N at k > 1, which no training problem has.
 * Rows: one problem each, padded on the right; only the answer is scored.
 */
import { createHash } from 'node:crypto';
import { below, type Grid, PosencError, type Random, stream, uniform, z } from '@posenc/core';
import { answerControls } from './controls.ts';
import { type Batch, defineTask, type EvalRequest, type ProblemSizes, type Task, type TaskPlugin } from './task.ts';
import type { Tokenizer } from './tokenizer.ts';
import { checkRequest, positive } from './windows.ts';

/** One problem as the model sees it. */
export interface Problem {
  /** All of the line but its last token. */
  readonly tokens: Int32Array;
  /** What should be predicted at each place; −1: not scored. As long as `tokens`. */
  readonly targets: Int32Array;
  /** Decides between training and test: problems with one key stand on one side. */
  readonly key: string;
}

/** Problems of every size of one kind, and what a row of them needs. */
export interface ProblemFamily {
  readonly tokenizer: Tokenizer;
  /** Every token that may be scored, at any size. */
  readonly answers: readonly string[];
  /** N: the largest size in training. */
  readonly size: number;
  /** What a size counts, for messages: "digits". */
  readonly unit: string;
  /** Tokens of the longest row among problems of at most this size. Throws PosencError when there are no problems that large. */
  longest(size: number): number;
  /** A problem as in training, of either side of the split. */
  train(random: Random): Problem;
  /** A problem of a size from `low` to `high`. Throws PosencError when there is none. */
  between(random: Random, low: number, high: number): Problem;
}

/** Options that every task of problems has. */
export const splitOptions = {
  testShare: z
    .number()
    .gt(0)
    .lt(1)
    .default(0.1)
    .describe('share of all problems that is kept for the test, by a hash of the problem'),
  trainExamples: z
    .int()
    .min(1)
    .max(1e9)
    .optional()
    .describe('train on this many problems, drawn once; default: new ones at every step'),
};

/** What is held out for the test, and how much training may see of the rest. */
export interface SplitOptions {
  readonly testShare: number;
  readonly trainExamples?: number | undefined;
}

/** The largest size in training, as an option. */
export const sizeOption = (initial: number, what: string, smallest = 1) =>
  z.int().min(smallest).max(4096).default(initial).describe(`${what} of the largest problem in training`);

/** `question` and `answer` as one row; every token of the answer is scored. */
export function written(tokenizer: Tokenizer, question: string, answer: string, key = question): Problem {
  const [asked, expected] = [tokenizer.encode(question), tokenizer.encode(answer)];
  const line = new Int32Array(asked.length + expected.length);
  line.set(asked);
  line.set(expected, asked.length);
  const targets = line.slice(1).fill(-1, 0, asked.length - 1);
  return { tokens: line.slice(0, -1), targets, key };
}

interface ProblemPlugin<Type extends string, Config extends SplitOptions> {
  readonly type: Type;
  readonly description: string;
  /** Raised when the problems drawn from an equal config change, for then trials are not the same any more. */
  readonly version: number;
  readonly config: z.ZodType<Config>;
  /** Throws PosencError when the options contradict each other. */
  family(config: Config): ProblemFamily;
}

/** A family of problems as a task plug-in. */
export function defineProblems<const Type extends string, Config extends SplitOptions>(
  plugin: ProblemPlugin<Type, Config>,
): TaskPlugin<Type, Config> {
  const { type, description, version, config, family } = plugin;
  return defineTask({
    type,
    description,
    config,
    create: (options) => {
      const sorted = Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1));
      const definition = JSON.stringify([type, version, Object.fromEntries(sorted)]);
      return problemTask(type, createHash('sha256').update(definition).digest('hex'), options, family(options));
    },
  });
}

/** Tokens of all rows of one evaluation: three grids of this size take 200 MB. */
const MOST_TOKENS = 2 ** 24;

/** Problems counted for the controls. */
const COUNTED = 2000;

function problemTask(type: string, digest: string, options: SplitOptions, family: ProblemFamily): Task {
  const { size, unit } = family;
  const { testShare, trainExamples } = options;
  // Not hash32(key) % n: the lowest bit of FNV is the parity of the text's, and every test problem of `parity` would be even.
  const isTest = ({ key }: Problem) => uniform(stream(0, `split/${key}`)) < testShare;

  /** The next draw that is wanted; undefined when it seems that there is none (by chance: e⁻⁵⁰). */
  function search(draw: () => Problem, wanted: (problem: Problem) => boolean): Problem | undefined {
    const patience = Math.ceil(50 / Math.min(testShare, 1 - testShare));
    for (let attempt = 0; attempt < patience; attempt++) {
      const problem = draw();
      if (wanted(problem)) return problem;
    }
    return undefined;
  }

  function trained(random: Random): Problem {
    const from = trainExamples ? stream(0, `training/${below(random, trainExamples)}`) : random;
    const problem = search(
      () => family.train(from),
      (p) => !isTest(p),
    );
    if (problem) return problem;
    throw new PosencError(
      `${type}: every problem of up to ${size} ${unit} is kept for the test: use a smaller "testShare", or larger problems`,
    );
  }

  function checkRoom(largest: number, length: number, multiple: number): void {
    const needed = family.longest(largest);
    if (needed <= length) return;
    const at = multiple === 1 ? '' : ` at ${multiple} times the training length`;
    throw new PosencError(
      `${type}: problems of ${largest} ${unit} take up to ${needed} tokens, and rows have ${length}${at}: the smallest training "length" that fits is ${Math.ceil(needed / multiple)}`,
    );
  }

  function problemSizes(multiple: number): ProblemSizes {
    const high = Math.floor(multiple * size);
    return { low: high > size ? Math.max(size, Math.floor((multiple - 1) * size)) + 1 : 1, high, unit };
  }

  function tested({ length, scored, windows }: EvalRequest): Problem[] {
    const multiple = length / scored;
    const { low, high } = problemSizes(multiple);
    checkRoom(high, length, multiple);
    if (windows * length > MOST_TOKENS)
      throw new PosencError(
        `${type}: ${windows} problems in rows of ${length} tokens are too many to evaluate at once (at most ${MOST_TOKENS} tokens): use fewer windows or smaller multiples`,
      );
    const random = stream(0, `evaluation/${multiple}`);
    const beyond = high > size;
    const draw = () => (beyond ? family.between(random, low, high) : family.train(random));
    const seen = new Set<string>();
    const problems: Problem[] = [];
    while (problems.length < windows) {
      const problem = search(draw, (p) => !seen.has(p.key) && (beyond || isTest(p)));
      if (!problem) break;
      seen.add(problem.key);
      problems.push(problem);
    }
    if (problems.length > 0) return problems;
    throw new PosencError(
      `${type}: no problem of up to ${size} ${unit} is kept for the test: use a larger "testShare", or larger problems`,
    );
  }

  function evalBatches(request: EvalRequest): Batch[] {
    checkRequest(request);
    const { length, rowsPerBatch } = request;
    const problems = tested(request);
    return Array.from({ length: Math.ceil(problems.length / rowsPerBatch) }, (_, b) =>
      padded(problems.slice(b * rowsPerBatch, (b + 1) * rowsPerBatch), length),
    );
  }

  return {
    tokenizer: family.tokenizer,
    digest,
    rowsAreProblems: true,
    problemSizes,
    trainBatch(random, rows, length) {
      positive({ rows, length });
      checkRoom(size, length, 1);
      return padded(
        Array.from({ length: rows }, () => trained(random)),
        length,
      );
    },
    evalBatches,
    controls(batches) {
      const random = stream(0, 'controls');
      const counted = Array.from({ length: COUNTED }, () => trained(random));
      const length = family.longest(size);
      const request = { length, scored: length, longest: length, windows: 1000, rowsPerBatch: 1000 };
      return answerControls(counted, batches ?? evalBatches(request), family.answers.length);
    },
  };
}

/** One problem per row, padding on its right. */
function padded(problems: readonly Problem[], cols: number): Batch {
  const grid = (fill: number): Grid => ({
    rows: problems.length,
    cols,
    data: new Int32Array(problems.length * cols).fill(fill),
  });
  const [tokens, targets, mask] = [grid(0), grid(-1), grid(0)];
  problems.forEach((problem, b) => {
    tokens.data.set(problem.tokens, b * cols);
    targets.data.set(problem.targets, b * cols);
    mask.data.fill(1, b * cols, b * cols + problem.tokens.length);
  });
  return problems.every((problem) => problem.tokens.length === cols) ? { tokens, targets } : { tokens, targets, mask };
}
