/** What the simd backend must reach, beside what a benchmark measured. */
import {
  attentionBytes,
  type BenchDocument,
  columns,
  contenderName,
  type PartName,
  ratios,
  type Summary,
  summarize,
  underLoad,
} from 'posenc/bench';

/** One line of the table. */
export interface Target {
  readonly measure: string;
  readonly mustReach: { readonly least: number } | { readonly most: number };
  /** What was measured, in `unit`; or why nothing was. */
  readonly measured: Summary | { readonly missing: string };
  readonly unit: 'times as fast' | 'times its speed' | 'times its time' | 'times';
}

/** Parts of the benchmark that the table needs. */
export const targetParts: readonly PartName[] = [
  'standard-step',
  'attention',
  'products',
  'training',
  'decoding',
  'profile',
];

/** Encodings whose training steps must cost about as much as one without positions. */
const cheap = ['t5', 'alibi', 'rope'];

const ours = 'simd';
const wasm = 'TensorFlow.js wasm, stock';
const jax = '@jax-js/jax';
const torch = 'PyTorch CPU, eager';
const torchProduct = 'PyTorch CPU, AVX2';
const notMeasured = { missing: 'not measured' };

/** All lines, whatever parts the document has. */
export function targetsOf(document: BenchDocument): Target[] {
  const threads = threadsOf(document);
  const most = threads.at(-1) ?? document.machine.cores;
  return [
    {
      measure: `standard step against stock tfjs-wasm, ${named(most)}`,
      mustReach: { least: 20 },
      measured: stepRatio(document, { name: wasm }, { name: ours, threads: most }),
      unit: 'times as fast',
    },
    {
      measure: `standard step against jax-js, ${named(most)}`,
      mustReach: { least: 3 },
      measured: stepRatio(document, { name: jax }, { name: ours, threads: most }),
      unit: 'times as fast',
    },
    ...(threads.length ? threads : [most]).map(
      (count): Target => ({
        measure: `standard step against PyTorch eager, ${named(count)} each`,
        mustReach: { most: 1.25 },
        measured: stepRatio(document, { name: ours, threads: count }, { name: torch, threads: count }),
        unit: 'times its time',
      }),
    ),
    {
      measure: `matrix product ${document.products?.size ?? 512}³ against PyTorch held to AVX2, 1 thread`,
      mustReach: { least: 0.9 },
      measured: productRatio(document),
      unit: 'times its speed',
    },
    ...[1024, 2048].flatMap((length) =>
      cheap.map(
        (name): Target => ({
          measure: `training step at ${length} tokens, ${name} against nope`,
          mustReach: { most: 1.15 },
          measured:
            document.training?.cells.find((cell) => cell.length === length)?.rows.find((row) => row.name === name)
              ?.ratio ?? notMeasured,
          unit: 'times its time',
        }),
      ),
    ),
    memoryTarget(document),
    {
      measure: `cached decoding over recomputing, ${document.decoding ? lengthsOf(document.decoding.cells) : '2048 tokens against 512'}`,
      mustReach: { least: 3.5 },
      measured: document.decoding?.ratio ?? notMeasured,
      unit: 'times as fast',
    },
  ];
}

const named = (threads: number) => `${threads} thread${threads === 1 ? '' : 's'}`;
const lengthsOf = (cells: readonly { readonly length: number }[]) =>
  `${cells.at(-1)!.length} tokens against ${cells[0]!.length}`;

/** Of ours in the standard step, fewest first. */
const threadsOf = ({ standardStep }: BenchDocument): number[] =>
  (standardStep?.contenders ?? [])
    .filter((c) => c.name === ours && c.status === 'measured')
    .map(({ threads }) => threads)
    .sort((a, b) => a - b);

interface Who {
  readonly name: string;
  /** Any when it is undefined. */
  readonly threads?: number;
}

/** Time of the first by that of the second, of the same round. */
function stepRatio({ standardStep }: BenchDocument, first: Who, second: Who): Target['measured'] {
  if (!standardStep) return notMeasured;
  const find = ({ name, threads }: Who) =>
    standardStep.contenders.find((c) => c.name === name && (threads === undefined || c.threads === threads)) ??
    standardStep.contenders.find((c) => c.name === name && c.status === 'absent');
  const [a, b] = [find(first), find(second)];
  for (const [who, one] of [
    [first, a],
    [second, b],
  ] as const) {
    if (!one) return { missing: `${contenderName({ threads: 1, ...who })} did not take part` };
    if (one.status === 'absent') return { missing: `${one.name} is absent: ${one.reason.split('\n')[0]}` };
  }
  return a?.status === 'measured' && b?.status === 'measured' ? paired(a.rounds, b.rounds) : notMeasured;
}

/** Of the rounds that both took part in. */
const paired = (a: readonly number[], b: readonly number[]): Summary => {
  const rounds = Math.min(a.length, b.length);
  return ratios(a.slice(0, rounds), b.slice(0, rounds));
};

function productRatio({ products }: BenchDocument): Target['measured'] {
  if (!products) return notMeasured;
  const find = (name: string) => products.contenders.find((c) => c.name === name);
  const [simd, theirs] = [find(ours), find(torchProduct)];
  if (simd?.status !== 'measured') return { missing: `${ours} did not take part` };
  if (theirs?.status !== 'measured')
    return {
      missing: theirs ? `${theirs.name} is absent: ${theirs.reason.split('\n')[0]}` : 'PyTorch did not take part',
    };
  return paired(theirs.rounds, simd.rounds);
}

function memoryTarget({ attention }: BenchDocument): Target {
  const bytes = attention ? attentionBytes(attention) : [];
  const growth = bytes.slice(1).map((one, i) => one.bytes / bytes[i]!.bytes);
  const over = bytes.length > 1 ? `${bytes[0]!.length} to ${bytes.at(-1)!.length} tokens` : '128 to 2048 tokens';
  return {
    measure: `attention's memory each time the length doubles, ${over}`,
    // Doubles, up to rounding: without streaming it quadruples.
    mustReach: { most: 2.05 },
    measured: growth.length ? summarize([Math.max(...growth)]) : notMeasured,
    unit: 'times',
  };
}

/** Whether the median reaches it; undefined where nothing was measured. */
export function reaches({ mustReach, measured }: Target): boolean | undefined {
  if ('missing' in measured) return undefined;
  return 'least' in mustReach ? measured.median >= mustReach.least : measured.median <= mustReach.most;
}

/** The table without its head. What was measured while others were busy is no verdict on a quiet machine, and says so. */
export const targetRows = (document: BenchDocument, targets = targetsOf(document)): string[][] =>
  targets.map((target) => {
    const [measure, must, measured, said] = targetCells(target);
    const caution = measured && underLoad(document) ? ', under load' : '';
    return [measure, must, measured, said + caution];
  });

/** measure, must reach, measured, verdict. */
export function targetCells(target: Target): [string, string, string, string] {
  const { measure, mustReach, measured, unit } = target;
  const bound = 'least' in mustReach ? `at least ${mustReach.least}` : `at most ${mustReach.most}`;
  const must = `${bound} ${unit}`;
  if ('missing' in measured) return [measure, must, '', measured.missing];
  const { median, min, max, n } = measured;
  const text = n === 1 ? median.toFixed(2) : `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
  return [measure, must, text, verdict(target, median)];
}

function verdict(target: Target, median: number): string {
  if (reaches(target)) return 'reached';
  const { mustReach } = target;
  const off = 'least' in mustReach ? 1 - median / mustReach.least : median / mustReach.most - 1;
  return `missed by ${(100 * off).toFixed(0)} %`;
}

export const targetHead = ['measure', 'must reach', 'measured, median (range)', 'verdict'] as const;

/** The table for people, of the parts that were measured; empty where none was. */
export function targetsText(document: BenchDocument): string {
  const targets = targetsOf(document).filter(({ measured }) => measured !== notMeasured);
  if (!targets.length) return '';
  const title = `What the simd backend must reach${document.quick ? ' (these sizes are too small to say so)' : ''}`;
  return [title, ...columns([targetHead, ...targetRows(document, targets)]), ''].join('\n');
}
