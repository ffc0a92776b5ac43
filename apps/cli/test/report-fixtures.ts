/**
 * Comparisons to render in tests. EVERY NUMBER HERE IS INVENTED: no model was trained. The orderings only resemble published
 * ones (a sinusoid explodes within 2×, RoPE degrades by 2–4×, T5 holds to about 4×, ALiBi stays flat, NoPE lies between, a
 * learned table ends), so that the report is looked at with the shapes it will meet.
 */
import { createRegistry } from '@posenc/core';
import { createTaskRegistry, type Task } from '@posenc/tasks';
import { type Comparison, type Environment, parseSuite, summarize, type TrialResult } from '@posenc/training';
import type { LossCurve } from '../src/report/curves.ts';

/** By multiple: a level that gets noise, or exact losses by seed; null: past the encoding's end. */
export type Losses = readonly (number | null | readonly number[])[];

export interface InventedRow {
  readonly name: string;
  readonly type?: string;
  readonly loss: Losses;
  /** Tasks of problems: the exact match by multiple, as losses are given; it makes the comparison one on problems. */
  readonly exact?: Losses;
  /** Rise of the loss with shuffled positions; absent: not measured. */
  readonly shuffled?: number;
  readonly parameters?: number;
  readonly milliseconds?: number;
  /** Seeds whose training diverged. */
  readonly diverged?: readonly number[];
  readonly overrides?: readonly { readonly name: string; readonly loss: Losses; readonly exact?: Losses }[];
  readonly training?: object;
}

export interface Invented {
  readonly rows: readonly InventedRow[];
  readonly name?: string;
  readonly description?: string;
  readonly baseline?: string;
  readonly seeds?: readonly number[];
  readonly multiples?: readonly number[];
  readonly controls?: ReturnType<Task['controls']>;
  readonly task?: { readonly type: string } & Readonly<Record<string, unknown>>;
  /** Of a row's losses over seeds, beside what the seeds share. */
  readonly noise?: number;
  readonly provenance?: Readonly<Record<string, unknown>>;
}

const length = 64;
const steps = 300;

/** In [−1, 1], the same on every run. */
const wave = (a: number, b: number, c = 0) => {
  const x = Math.sin(a * 12.9898 + b * 78.233 + c * 37.719) * 43758.5453;
  return 2 * (x - Math.floor(x)) - 1;
};

export const ngrams = [
  { name: 'unigram', loss: 3.35, accuracy: 0.152 },
  { name: 'bigram', loss: 2.48, accuracy: 0.271 },
];

export function invent({
  rows,
  name = 'invented',
  description = 'Invented numbers for looking at the report: no model was trained.',
  baseline,
  seeds = [1, 2, 3],
  multiples = [1, 2, 4, 8],
  controls = ngrams,
  task = { type: 'text', file: '/somewhere/on/this/machine/tiny-shakespeare.txt' },
  noise = 0.008,
  provenance = {
    commit: '0123abc',
    node: 'v24.0.0',
    finished: '2026-01-02T03:04:05.000Z',
    command: 'posenc compare invented.json',
  },
}: Invented): Comparison {
  const suite = parseSuite(
    {
      name,
      description,
      task,
      model: { modelDim: 64, numLayers: 2, numHeads: 4 },
      training: { length, batchSize: 16, steps },
      evaluation: { multiples },
      seeds,
      baseline,
      encodings: rows.map((row) => ({
        name: row.name,
        encoding: { type: row.type ?? 'rope' },
        evaluate: (row.overrides ?? []).map((o) => ({
          name: o.name,
          encoding: { type: row.type ?? 'rope', scaling: { type: 'linear', factor: 'auto' } },
        })),
        ...(row.training && { training: row.training }),
      })),
    },
    'the fixture',
    '/',
  );
  const trials = seeds.flatMap((seed, s) => rows.map((row, r) => inventTrial({ row, r, seed, s, multiples, noise })));
  const made = rows.some((row) => row.exact) ? inventProblems(controls) : inventTask(controls);
  return summarize(suite, trials, made, environment, provenance);
}

const environment: Environment = {
  encodings: createRegistry([]),
  tasks: createTaskRegistry([]),
  runtime: { backend: 'simd', version: '4.22.0', variant: 'relaxed', threads: 1, processor: 'Abacus 9000' },
  versions: { '@posenc/core': '0.1.0', '@tensorflow/tfjs': '4.22.0' },
};

interface Draw {
  readonly row: InventedRow;
  /** Its place in the suite. */
  readonly r: number;
  readonly seed: number;
  /** The seed's place in the suite. */
  readonly s: number;
  readonly multiples: readonly number[];
  readonly noise: number;
}

function inventTrial(draw: Draw): TrialResult {
  const { row, r, seed } = draw;
  const diverged = row.diverged?.includes(seed) ?? false;
  const done = diverged ? 120 : steps;
  const milliseconds = (row.milliseconds ?? 90) * (1 + 0.03 * wave(seed, r, 5));
  return {
    id: `${(r * 7919 + seed * 104729 + 0xabc000).toString(16).padStart(12, '0')}`,
    name: row.name,
    seed,
    encoding: { type: row.type ?? 'rope' } as TrialResult['encoding'],
    status: diverged ? 'diverged' : 'finished',
    runtimes: [environment.runtime],
    steps: done,
    tokens: done * 16 * length,
    parameters: { total: 104_256 + (row.parameters ?? 0), encoding: row.parameters ?? 0 },
    evaluations: diverged
      ? []
      : [inventEvaluation(draw, row, 0), ...(row.overrides ?? []).map((o, v) => inventEvaluation(draw, o, v + 1))],
    shuffled: diverged ? null : inventShuffled(draw),
    timing: {
      trainSeconds: (done * milliseconds) / 1000,
      medianStepSeconds: milliseconds / 1000,
      tokensPerSecond: (16 * length * 1000) / milliseconds,
    },
  };
}

/** What a seed's trials share shifts all rows alike; noise grows where a loss has risen. */
function lossAt({ r, seed, s, noise }: Draw, losses: Losses, i: number, v: number): number | null {
  const loss = losses[i] ?? null;
  if (loss === null) return null;
  if (typeof loss !== 'number') return loss[s]!;
  const risen = typeof losses[0] === 'number' ? loss - losses[0] : 0;
  return loss + 0.03 * wave(seed, 1) + noise * (1 + 3 * risen) * wave(seed, r, i > 0 ? v * 9 + i : 0);
}

/** One of 128 problems is the least step of an exact match. */
function exactAt({ r, seed, s, noise }: Draw, exact: Losses | undefined, i: number): { exactMatch?: number } {
  const share = exact?.[i] ?? null;
  if (share === null) return {};
  if (typeof share !== 'number') return { exactMatch: share[s]! };
  const noisy = share === 0 ? 0 : share + noise * wave(seed, r, i);
  return { exactMatch: Math.round(128 * Math.min(1, Math.max(0, noisy))) / 128 };
}

function inventEvaluation(
  draw: Draw,
  { name, loss: losses, exact }: Pick<InventedRow, 'name' | 'loss' | 'exact'>,
  v: number,
): TrialResult['evaluations'][number] {
  const scored = draw.multiples.map((multiple, i) => ({ multiple, loss: lossAt(draw, losses, i, v), i }));
  const defined = scored.filter(({ loss }) => loss !== null);
  return {
    name,
    override: v === 0 ? null : { type: 'rope' },
    lengths: scored.map(({ multiple, loss, i }) => ({
      multiple,
      length: multiple * length,
      score:
        loss === null
          ? null
          : {
              loss,
              accuracy: Math.max(0.02, 0.75 - 0.18 * loss),
              tokens: 2048,
              ...exactAt(draw, exact, i),
            },
    })),
    positions:
      !exact && defined.length > 0
        ? positions(defined as { multiple: number; loss: number }[], draw.r + v, draw.seed)
        : null,
  };
}

function inventShuffled(draw: Draw): TrialResult['shuffled'] {
  const { row, r, seed, multiples } = draw;
  const ordered = lossAt(draw, row.loss, multiples.indexOf(1), 0);
  if (row.shuffled === undefined || ordered === null) return null;
  const { exactMatch } = exactAt(draw, row.exact, multiples.indexOf(1));
  return {
    loss: ordered + row.shuffled * (1 + 0.1 * wave(seed, r, 4)),
    accuracy: 0.2,
    tokens: 2048,
    ...(exactMatch !== undefined && { exactMatch: row.shuffled > 0 ? 0 : exactMatch }),
  };
}

/** Falls while context grows, then goes from one length's loss to the next one's. */
function positions(scored: readonly { multiple: number; loss: number }[], r: number, seed: number): number[] {
  const at = (multiple: number) => scored.find((entry) => entry.multiple >= multiple)!.loss;
  return Array.from({ length: scored.at(-1)!.multiple * length }, (_, t) => {
    const octave = Math.max(0, Math.log2((t + 1) / length));
    const [low, high] = [at(2 ** Math.floor(octave)), at(2 ** Math.ceil(octave))];
    return low + (high - low) * (octave - Math.floor(octave)) + 1.1 * Math.exp(-t / 5) + 0.12 * wave(seed, r, t);
  });
}

function inventTask(controls: ReturnType<Task['controls']>): Task {
  const vocabulary = ['a', 'b'];
  return {
    tokenizer: {
      vocabulary,
      encode: () => new Int32Array(),
      decode: () => '',
      toJSON: () => ({ type: 'char', vocabulary }),
    },
    digest: 'invented',
    trainBatch: () => ({ tokens: grid, targets: grid }),
    evalBatches: () => [],
    controls: () => controls,
  };
}

/** 128 problems of up to 5 digits at 1×, of 6 to 10 at 2×, … */
function inventProblems(controls: ReturnType<Task['controls']>): Task {
  const problems = { ...grid, rows: 128 };
  return {
    ...inventTask(controls),
    rowsAreProblems: true,
    problemSizes: (k) => ({ low: 5 * (k - 1) + 1, high: 5 * k, unit: 'digits' }),
    evalBatches: () => [{ tokens: problems, targets: problems }],
  };
}

const grid = { rows: 1, cols: 1, data: new Int32Array(1) };

/** Curves from the logarithm of the vocabulary down to about the loss at 1×; a diverged one shoots up and ends in no numbers. */
export function inventCurves(comparison: Comparison): LossCurve[] {
  return comparison.trials.map(({ name, seed, status, steps: done }, i) => {
    const end = comparison.rows.find((row) => row.name === name)?.cells[0]?.loss?.mean ?? 2.4;
    const points = Array.from({ length: done }, (_, s) => {
      const ordinary = end + (4.17 - end) * Math.exp(-s / (28 + 2 * (i % 6))) + 0.05 * wave(s, seed, i % 6);
      if (status === 'finished') return { step: s + 1, loss: ordinary };
      return { step: s + 1, loss: s > done - 5 ? null : ordinary + Math.exp((s - done + 30) / 8) };
    });
    return { name, seed, points };
  });
}

export const published: readonly InventedRow[] = [
  {
    name: 'RoPE',
    type: 'rope',
    loss: [2.18, 2.61, 3.52, 4.31],
    shuffled: 1.21,
    milliseconds: 98,
    overrides: [
      { name: 'RoPE, PI at evaluation', loss: [2.18, 2.49, 2.86, 3.2] },
      { name: 'RoPE, NTK at evaluation', loss: [2.18, 2.24, 2.45, 2.83] },
    ],
  },
  { name: 'ALiBi', type: 'alibi', loss: [2.2, 2.18, 2.17, 2.17], shuffled: 0.93, milliseconds: 92 },
  { name: 'T5 bias', type: 't5', loss: [2.19, 2.185, 2.21, 2.37], shuffled: 1.05, parameters: 128, milliseconds: 121 },
  { name: 'sinusoidal', type: 'sinusoidal', loss: [2.31, 3.6, 5.1, 6.02], shuffled: 0.82, milliseconds: 89 },
  {
    name: 'learned',
    type: 'learned',
    loss: [2.33, null, null, null],
    shuffled: 0.64,
    parameters: 4096,
    milliseconds: 89,
  },
  { name: 'NoPE', type: 'nope', loss: [2.27, 2.3, 2.52, 2.97], shuffled: 0, milliseconds: 88 },
];

/** Of a task of problems: two encodings solve it, one in some seeds only, one reaches beyond, one guesses, one ends. */
export const solved: Invented = {
  task: { type: 'reversal', digits: 5 },
  multiples: [1, 2, 3],
  controls: [
    { name: 'uniform', loss: 2.4, accuracy: 0.09, exactMatch: 0 },
    { name: 'place', loss: 1.99, accuracy: 0.26, exactMatch: 0.008 },
  ],
  rows: [
    { name: 'NoPE', type: 'nope', loss: [1.3, 2.2, 2.6], exact: [0.01, 0, 0], shuffled: 0 },
    {
      name: 'RoPE',
      loss: [0.002, 4.1, 6.2],
      exact: [0.99, 0, 0],
      shuffled: 5,
      overrides: [{ name: 'RoPE + PI', loss: [0.002, 1.9, 3], exact: [0.99, 0.2, 0] }],
    },
    {
      name: 'ALiBi',
      type: 'alibi',
      loss: [0.4, 1.6, 2.4],
      exact: [
        [1, 0.0625, 0.96875],
        [0.125, 0, 0.125],
        [0, 0, 0],
      ],
      shuffled: 4,
    },
    { name: 'T5 bias', type: 't5', loss: [0.001, 0.05, 0.6], exact: [1, 0.97, 0.4], shuffled: 6 },
    { name: 'learned', type: 'learned', loss: [0.1, null, null], exact: [0.8, null, null], shuffled: 3 },
  ],
};
