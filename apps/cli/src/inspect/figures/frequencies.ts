/**
 * Pictures of frequencies ω (radians per position, one per channel pair): those an encoding states in a table, else those
 * measured from its rotation.
 */
import { componentCurves, heatmap, lineChart, unitCircle } from '@posenc/plots';
import { short, spread } from '../../ui/numbers.ts';
import type { Inspection } from '../inspection.ts';
import { capitalised, type Drawer, type Figure, facts, sentences } from './figure.ts';

/** One set of frequencies. */
interface Spectrum {
  /** Which one it is; '' when there is only one. */
  readonly of: string;
  readonly slug: string;
  readonly omegas: ArrayLike<number>;
}

/** What frequencies are multiplied with. */
type Counted = 'position' | 'distance' | 'position or distance';

/** Vectors and turns are of positions, what is done to a score of distances; where an encoding does both, this cannot be told. */
function countedBy({ holes, traits }: Inspection): Counted {
  const byPosition = holes.some((hole) => hole === 'embed' || hole === 'infuse' || hole === 'rotate');
  const byPair = holes.some((hole) => hole === 'relativeBias' || hole === 'scores' || hole === 'bias');
  if (byPosition && !byPair) return 'position';
  return !byPosition && traits.shiftInvariant ? 'distance' : 'position or distance';
}

const plural = (counted: Counted): string => `${counted.replace(' or', 's or')}s`;

const turn = 2 * Math.PI;

export const frequencyFigures: Drawer = (inspection) => {
  const all = spectraOf(inspection);
  const counted = countedBy(inspection);
  // Tables of the same part are variants (by sequence length, say): the first is drawn in full, all are compared.
  const main = all.filter((s, i) => all.findIndex((other) => other.slug === s.slug) === i);
  return [
    ...main.flatMap((s) => {
      const file = (name: string) => (main.length > 1 ? `${name}-${s.slug}` : name);
      return [
        circles(s, counted, pairsOfWavelengths(s.omegas, [40]), file),
        angles(s, counted, pairsOfWavelengths(s.omegas, [20, 80]), file),
        components(s, counted, spread(s.omegas.length, 8), inspection.measured.positions, file),
        fingerprint(s, counted, inspection.measured.positions, file),
      ];
    }),
    ...(all.length > 0 ? [wavelengths(all, counted, inspection.measured.positions)] : []),
  ];
};

function spectraOf({ parts, measured }: Inspection): Spectrum[] {
  const stated = parts.flatMap((part, i) =>
    part.tables
      .filter((t) => t.quantity === 'frequency')
      .map((t) => ({ part: part.name, slug: `part-${i + 1}`, name: t.name, omegas: t.data })),
  );
  if (stated.length > 0) {
    const several = new Set(stated.map((s) => s.slug)).size > 1;
    return stated.map(({ part, slug, name, omegas }) => ({
      of: stated.length === 1 ? '' : several ? `${part}, ${name}` : name,
      slug,
      omegas,
    }));
  }
  return measured.groups.flatMap(({ layers, rotation }) =>
    rotation?.pairs?.length
      ? {
          of: measured.groups.length > 1 ? `layer ${layers[0]} and alike` : '',
          slug: `layer-${layers[0]}`,
          omegas: rotation.pairs.map((pair) => Math.abs(pair.frequency)),
        }
      : [],
  );
}

type File = (name: string) => string;

function circles({ of, omegas }: Spectrum, counted: Counted, pairs: readonly number[], file: File): Figure {
  const shown = 8;
  const title = `${capitalised(plural(counted))} as points on a circle`;
  const way = (k: number) => `pair ${k} by ${degrees((shown - 1) * omegas[k]!)}`;
  return {
    name: file('unit-circle'),
    title,
    caption: sentences(
      `A pair of channels is the two coordinates of a point. One ${counted === 'position' ? counted : 'step'} further, the point has moved on by the pair’s angle.`,
      `The first ${shown} ${plural(counted)} are shown, 0 on the right. From the first to the last of them the point moves on, ${joined(pairs.map(way))}.`,
      counted === 'position'
        ? 'The step between neighbours is the same everywhere, so the angle between two positions tells their distance.'
        : 'The step between neighbours is the same everywhere.',
    ),
    draw: () =>
      unitCircle({
        title,
        subtitle: facts(`${plural(counted)} 0 to ${shown - 1}, ${pairs.length} of ${omegas.length} channel pairs`, of),
        pairs: pairs.map((k) => ({
          name: `pair ${k}`,
          angles: Array.from({ length: shown }, (_, p) => p * omegas[k]!),
        })),
      }),
  };
}

function angles({ of, omegas }: Spectrum, counted: Counted, pairs: readonly number[], file: File): Figure {
  const shown = 64;
  const title = `Angle by ${counted}`;
  /** Degrees within one turn; the line leaves at 360° and comes in again at 0°. */
  const points = (omega: number) => {
    const turns = (p: number) => (p * omega) / turn;
    return Array.from({ length: shown }, (_, p) => {
      const whole = Math.floor(turns(p));
      const here = { x: p, y: 360 * (turns(p) - whole) };
      if (p === 0 || Math.floor(turns(p - 1)) === whole) return [here];
      const x = (whole * turn) / omega;
      return [{ x, y: 360 }, { x, y: null }, { x, y: 0 }, here];
    }).flat();
  };
  return {
    name: file('angles'),
    title,
    caption: sentences(
      'Like the hands of a clock: each line is the angle of one pair, and starts again at 0° after a full turn.',
      `The faster a pair, the better it tells neighbours apart and the sooner it is back at the same angle: ${joined(pairs.map((k) => `pair ${k} ${omegas[k] === 0 ? 'never moves' : `after ${short(wavelength(omegas[k]!), 3)} positions`}`))}.`,
    ),
    draw: () =>
      lineChart({
        title,
        subtitle: facts(`${counted} × frequency, in degrees within one turn`, of),
        x: { label: counted },
        y: { label: 'angle (degrees)', ticks: [0, 90, 180, 270, 360], domain: [0, 360] },
        series: pairs.map((k) => ({
          name: `pair ${k}: ${degrees(omegas[k]!)} per step`,
          points: points(omegas[k]!),
        })),
      }),
  };
}

function components(
  { of, omegas }: Spectrum,
  counted: Counted,
  pairs: readonly number[],
  n: number,
  file: File,
): Figure {
  const positions = Array.from({ length: n }, (_, p) => p);
  const title = 'Cosine of each pair’s angle, and its wavelength';
  return {
    name: file('components'),
    title,
    caption: sentences(
      `One row per channel pair, ${counted} to the right. The tinted strip is one wavelength 2π/ω: after so many positions the pair repeats.`,
      ...growth(omegas),
    ),
    draw: () =>
      componentCurves({
        title,
        subtitle: facts(`cos(${counted} · ω) for ${pairs.length} of ${omegas.length} pairs`, of),
        positions,
        components: pairs.map((k) => ({
          name: `pair ${k}`,
          wavelength: wavelength(omegas[k]!),
          values: positions.map((p) => Math.cos(p * omegas[k]!)),
        })),
      }),
  };
}

/** From which wavelength to which, and by which factor from pair to pair. */
function growth(omegas: ArrayLike<number>): string[] {
  const turning = Array.from(omegas).filter((omega) => omega !== 0);
  if (turning.length < 2) return still(omegas);
  const waves = turning.map(wavelength);
  const ratios = waves.slice(1).map((wave, i) => wave / waves[i]!);
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  const even = most / least < 1.01;
  return [
    `Wavelengths lie between ${short(Math.min(...waves), 3)} and ${short(Math.max(...waves), 3)} positions, ` +
      (even
        ? `each ${short((least + most) / 2, 3)} times the one before.`
        : `in unequal ratios: ${short(least, 3)} to ${short(most, 3)} times the one before.`),
    ...still(omegas),
  ];
}

function still(omegas: ArrayLike<number>): string[] {
  const count = Array.from(omegas).filter((omega) => omega === 0).length;
  return count === 0
    ? []
    : [`${count} of ${omegas.length} pairs stand${count === 1 ? 's' : ''} still (ω = 0) and have no wavelength.`];
}

function fingerprint({ of, omegas }: Spectrum, counted: Counted, n: number, file: File): Figure {
  const pairs = omegas.length;
  const turned = Array.from(omegas).filter((omega) => wavelength(omega) <= n).length;
  const title = `cos(${counted} · ω): every ${counted} has its own row`;
  return {
    name: file('frequencies'),
    title,
    caption: sentences(
      `A row is one ${counted}, a column one channel pair. ${turned} of ${pairs} pairs turn fully within the ${n} rows, the fastest with the narrowest stripes; the slower a pair, the less its colour changes from row to row.`,
      'Where the stripes become wider than the training length, the model has never seen a full turn: that is where longer sequences leave known ground.',
    ),
    draw: () =>
      heatmap({
        title,
        subtitle: facts(`${n} ${plural(counted)} downward, ${pairs} channel pairs across`, of),
        x: { label: 'channel pair' },
        y: { label: counted },
        rows: n,
        cols: pairs,
        data: Float64Array.from({ length: n * pairs }, (_, i) => Math.cos(Math.floor(i / pairs) * omegas[i % pairs]!)),
        colorScale: 'diverging',
        domain: [-1, 1],
        valueLabel: 'cos',
      }),
  };
}

function wavelengths(spectra: readonly Spectrum[], counted: Counted, n: number): Figure {
  const caption = sentences(
    `How many positions${counted === 'distance' ? ' of distance' : ''} a pair needs for one full turn; each step up the axis is ten times as many.`,
    `Pairs below the line have turned fully within the ${n} positions shown, those above have not.`,
    ...new Set(spectra.flatMap(({ omegas }) => still(omegas))),
    spectra.length > 1 && 'Where lines meet, their pairs turn equally fast.',
  );
  return {
    name: 'wavelengths',
    title: 'Wavelength of each pair',
    caption,
    draw: () =>
      lineChart({
        title: 'Wavelength of each pair',
        subtitle: '2π/ω, in positions; logarithmic',
        x: { label: 'channel pair' },
        y: { label: 'wavelength (positions)', scale: 'log10' },
        series: spectra.map(({ of, omegas }) => ({
          name: of || 'wavelength',
          points: Array.from(omegas, (omega, x) => ({ x, y: wavelength(omega) })),
        })),
        references: [{ y: n, label: `${n} positions` }],
      }),
  };
}

/** The fastest pair, those nearest to the given wavelengths (in positions), and the slowest. */
function pairsOfWavelengths(omegas: ArrayLike<number>, wavelengths: readonly number[]): number[] {
  const all = Array.from(omegas);
  const nearest = wavelengths.map((wanted) => {
    const off = all.map((omega) => Math.abs(Math.log(wavelength(omega) / wanted)));
    return off.indexOf(Math.min(...off));
  });
  return [...new Set([0, ...nearest, all.length - 1])].sort((a, b) => a - b);
}

const wavelength = (omega: number): number => (omega === 0 ? Number.POSITIVE_INFINITY : turn / omega);

const degrees = (radians: number): string => `${short((radians * 360) / turn, 3)}°`;

/** "a", "a and b", "a, b and c". */
const joined = (items: readonly string[]): string =>
  items.length > 1 ? `${items.slice(0, -1).join(', ')} and ${items.at(-1)}` : items.join('');
