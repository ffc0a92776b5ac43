/** An inspection as text for a terminal. */
import type { NamedTable } from '@posenc/core';
import { grouped, short, spread } from '../ui/numbers.ts';
import { columns, hanging, length, type Paint, wrap } from '../ui/style.ts';
import type { Pairs } from './content.ts';
import { type Inspection, type Part, titleOf } from './inspection.ts';
import { awakenedStd, type Group } from './measure.ts';
import { holesText, initText, layersText, stackText, traitTexts } from './words.ts';

/** All of it, ending in a line break. */
export function printInspection(inspection: Inspection, paint: Paint, width: number): string {
  const { config, dims, parts, traits, params, paramCount } = inspection;
  const several = parts.length > 1;
  const label = (name: string, text: string) => hanging(`  ${name.padEnd(11)} `, text, width);
  const head = (text: string) => `\n${paint('bold', text)}`;
  const equations = parts.flatMap((part) => [
    ...(several ? [head(part.name)] : []),
    ...part.equation.split(';').map((equation) => `  ${paint('cyan', equation.trim())}`),
    label('source', part.reference),
  ]);
  return `${[
    paint('bold', titleOf(inspection)),
    ...equations,
    ...(several ? [''] : []),
    label('fills', holesText(inspection)),
    ...traitTexts(traits).map((text, i) => label(i === 0 ? 'traits' : '', text)),
    label('stack', stackText(dims)),
    label('parameters', paramCount === 0 ? 'none' : `${grouped(paramCount)} in all`),
    ...columns(params.map((p) => [p.name, `[${p.shape.join(', ')}]`, grouped(p.count), initText(p.init)])).map(
      (row) => `    ${row}`,
    ),
    head('Config'),
    ...wrap(JSON.stringify(config).replaceAll(',"', ', "'), width - 2).map((line) => `  ${line}`),
    ...parts.flatMap((part) => optionLines(part, several, paint, width)),
    ...parts.flatMap((part) => (part.notes.length ? noteLines(part, several, head, width) : [])),
    ...tableLines(inspection, head, width),
    ...measuredLines(inspection, head, width),
  ].join('\n')}\n`;
}

const valueWidth = 13;

/** Names, values and meanings; a long value has a line of its own, and in a narrow terminal each. */
function optionLines({ name, options }: Part, several: boolean, paint: Paint, width: number): string[] {
  if (options.length === 0) return [];
  const rows = options.map(
    (o) => [o.name, o.value === undefined ? '–' : JSON.stringify(o.value), o.description] as const,
  );
  const nameWidth = Math.max(...rows.map(([n]) => length(n)));
  return [
    ...(several ? [`  ${paint('dim', name)}`] : []),
    ...rows.flatMap(([option, value, meaning]) => {
      const start = `    ${option.padEnd(nameWidth)}  `;
      const indent = length(start) + valueWidth + 2;
      const narrow = width - indent < 36;
      if (length(value) <= valueWidth && !narrow)
        return hanging(`${start}${value.padEnd(valueWidth)}  `, meaning, width);
      return [start + value, hanging(' '.repeat(narrow ? 6 : indent), meaning, width)];
    }),
  ];
}

const noteLines = (
  { name, notes }: Part,
  several: boolean,
  head: (text: string) => string,
  width: number,
): string[] => [
  head(`Where paper and practice differ${several ? `: ${name}` : ''}`),
  ...notes.map((note) => hanging('  · ', note, width)),
];

function tableLines({ parts }: Inspection, head: (text: string) => string, width: number): string[] {
  const several = parts.length > 1;
  const lines = parts.flatMap((part) =>
    part.tables.map((table) =>
      hanging(`  ${several ? `${part.name}: ` : ''}${table.name} [${table.shape.join(', ')}]  `, values(table), width),
    ),
  );
  return lines.length ? [head('Tables'), ...lines] : [];
}

/** The first entries, some between, the last; all of a short table. */
function values({ data, shape }: NamedTable): string {
  if (shape.length > 1) return `${short(data[0]!)}, …, ${short(data[data.length - 1]!)}`;
  const picked = spread(data.length, 8);
  const parts = picked.map((i, n) => `${n > 0 && i !== picked[n - 1]! + 1 ? '… ' : ''}${short(data[i]!)}`);
  return parts.join(', ');
}

function measuredLines({ measured }: Inspection, head: (text: string) => string, width: number): string[] {
  const { embed, groups, positions } = measured;
  const lines = [
    ...(embed
      ? [
          hanging(
            '  ',
            `embed: vectors of length ${lengthsOf(embed.table, embed.width)} at positions 0 to ${positions - 1}`,
            width,
          ),
        ]
      : []),
    ...groups.flatMap((group) => groupLines(group, groups.length > 1).map((line) => hanging('  ', line, width))),
  ];
  if (lines.length === 0) return [];
  return [head(`Measured by calling the hooks${startTexts[measured.parameters]}`), ...lines];
}

const startTexts = {
  none: '',
  initial: ' (at initialisation, seed 0)',
  awakened: ` (parameters that start at zero: drawn from N(0, ${awakenedStd}²), seed 0)`,
} as const;

function groupLines(group: Group, several: boolean): string[] {
  const { layers, infuse, rotation, relativeBias, scale, carried } = group;
  const where = several ? `${layersText(layers)}, ` : '';
  const lines: string[] = [];
  if (infuse) lines.push(`${where}infuse: vectors of length ${lengthsOf(infuse.table, infuse.width)}`);
  if (rotation) {
    const { pairs, still, headDim, lengthError, similarity } = rotation;
    const [a, b] = pairs?.[0]?.channels ?? [];
    lines.push(
      `${where}rotate: ${pairs ? `${pairs.length} pairs of channels turn (${a} with ${b}, …), ${still} of ${headDim} channels do not` : 'not a set of turns in planes'}; ` +
        `lengths ${lengthError < 1e-4 ? 'are kept' : `change by up to ${short(100 * lengthError, 2)} %`}; the score of a vector with itself falls from 1 to ` +
        `${[1, 8, 64]
          .filter((p) => p < similarity.length)
          .map((p) => `${short(similarity[p]! / similarity[0]!, 3)} at distance ${p}`)
          .join(', ')}`,
    );
  }
  if (relativeBias) {
    const { offsets, heads, data } = relativeBias;
    const n = offsets.length;
    const zero = offsets.indexOf(0);
    const at = (h: number, offset: number) => short(data[h * n + zero + offset]!, 3);
    const far = -zero;
    lines.push(
      `${where}relativeBias: head 0 adds ${at(0, 0)} at distance 0, ${at(0, -1)} at 1, ${at(0, far)} at ${-far}; head ${heads - 1} adds ${at(heads - 1, far)} at ${-far}`,
    );
  }
  if (scale)
    lines.push(
      `${where}scale: scores × ${short(scale.data[0]!)} at position 0, × ${short(scale.data[scale.positions - 1]!)} at position ${scale.positions - 1}`,
    );
  if (carried) {
    const { width, heads, data } = carried;
    lines.push(
      `${where}carry: ${width} number${width > 1 ? 's' : ''} per token and head (${heads} heads), from ${short(extreme(data, Math.min))} to ${short(extreme(data, Math.max))} for random content`,
    );
  }
  for (const hook of ['scores', 'bias', 'mix'] as const) {
    const pairs = group[hook];
    if (pairs) lines.push(`${where}${hook}${pairs.readsContent ? ', for random content' : ''}: ${pairsText(pairs)}`);
  }
  return lines;
}

/** What head 0 does at a few distances: the mean, and the standard deviation where there is one. */
function pairsText({ byOffset: { offsets, mean, deviation } }: Pairs): string {
  const zero = offsets.indexOf(0);
  const at = (distance: number) => {
    const spread = deviation[zero - distance]!;
    return `${short(mean[zero - distance]!, 3)}${spread > 1e-6 ? ` ± ${short(spread, 2)}` : ''} at distance ${distance}`;
  };
  const far = Math.floor(zero / 2); // the farthest has one pair alone
  return `head 0 ${[...new Set([0, 1, far])].map(at).join(', ')}`;
}

/** As Math.min or Math.max, for more numbers than a call takes. */
const extreme = (data: Float32Array, choose: (a: number, b: number) => number): number =>
  data.reduce((a, b) => choose(a, b));

/** "16", or "from 0.43 to 0.48". */
function lengthsOf(table: Float32Array, width: number): string {
  let [low, high] = [Number.POSITIVE_INFINITY, 0];
  for (let from = 0; from < table.length; from += width) {
    let square = 0;
    for (let d = from; d < from + width; d++) square += table[d]! ** 2;
    low = Math.min(low, Math.sqrt(square));
    high = Math.max(high, Math.sqrt(square));
  }
  const [from, to] = [short(low, 3), short(high, 3)];
  return from === to ? from : `${from} to ${to}`;
}
