/**
 * Pictures of frequencies ω (radians per position, one per channel pair): those an encoding states in a table, else those
 * measured from its rotation.
 */
import { componentCurves, heatmap, lineChart, unitCircle } from '@posenc/plots';
import { short, spread } from '../../ui/numbers.ts';
import type { Inspection } from '../inspection.ts';
import { type Drawer, type Figure, facts, sentences } from './figure.ts';

/** One set of frequencies. */
interface Spectrum {
  /** Which one it is; '' when there is only one. */
  readonly of: string;
  readonly slug: string;
  readonly omegas: ArrayLike<number>;
}

const turn = 2 * Math.PI;

export const frequencyFigures: Drawer = (inspection) => {
  const all = spectraOf(inspection);
  // Tables of the same part are variants (by sequence length, say): the first is drawn in full, all are compared.
  const main = all.filter((s, i) => all.findIndex((other) => other.slug === s.slug) === i);
  return [
    ...main.flatMap((s) => {
      const file = (name: string) => (main.length > 1 ? `${name}-${s.slug}` : name);
      return [
        circles(s, pairsOfWavelengths(s.omegas, [40]), file),
        angles(s, pairsOfWavelengths(s.omegas, [20, 80]), file),
        components(s, spread(s.omegas.length, 8), inspection.measured.positions, file),
        fingerprint(s, inspection.measured.positions, file),
      ];
    }),
    ...(all.length > 0 ? [wavelengths(all, inspection.measured.positions)] : []),
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

function circles({ of, omegas }: Spectrum, pairs: readonly number[], file: (name: string) => string): Figure {
  const shown = 8;
  return {
    name: file('unit-circle'),
    title: 'Positions as points on a circle',
    caption: sentences(
      'Two channels are the two coordinates of a point. One position further, the point has moved on by the pair’s angle.',
      `Position 0 is on the right, and the first ${shown} positions are shown: the first pair runs around the circle, the last hardly moves.`,
      'The step between neighbours is the same everywhere, so the angle between two positions tells their distance.',
    ),
    draw: () =>
      unitCircle({
        title: 'Positions as points on a circle',
        subtitle: facts(`positions 0 to ${shown - 1}, ${pairs.length} of ${omegas.length} channel pairs`, of),
        pairs: pairs.map((k) => ({
          name: `pair ${k}`,
          angles: Array.from({ length: shown }, (_, p) => p * omegas[k]!),
        })),
      }),
  };
}

function angles({ of, omegas }: Spectrum, pairs: readonly number[], file: (name: string) => string): Figure {
  const shown = 64;
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
    title: 'Angle by position',
    caption: sentences(
      'Like the hands of a clock: each line is the angle of one pair, and starts again at 0° after a full turn.',
      'A fast pair tells neighbours apart but is back at the same angle a few positions later; a slow pair never comes round, but barely tells neighbours apart. Together they give every position an angle of its own.',
    ),
    draw: () =>
      lineChart({
        title: 'Angle by position',
        subtitle: facts('position × frequency, in degrees within one turn', of),
        x: { label: 'position' },
        y: { label: 'angle (degrees)', ticks: [0, 90, 180, 270, 360], domain: [0, 360] },
        series: pairs.map((k) => ({
          name: `pair ${k}: ${short((omegas[k]! * 360) / turn, 3)}° per step`,
          points: points(omegas[k]!),
        })),
      }),
  };
}

function components(
  { of, omegas }: Spectrum,
  pairs: readonly number[],
  n: number,
  file: (name: string) => string,
): Figure {
  const positions = Array.from({ length: n }, (_, p) => p);
  return {
    name: file('components'),
    title: 'Cosine of each pair’s angle, and its wavelength',
    caption: sentences(
      'One row per channel pair, position to the right. The tinted strip is one wavelength 2π/ω: after so many positions the pair repeats.',
      'Wavelengths grow in equal ratios from pair to pair, from a handful of positions to far beyond the picture.',
    ),
    draw: () =>
      componentCurves({
        title: 'Cosine of each pair’s angle, and its wavelength',
        subtitle: facts(`cos(position · ω) for ${pairs.length} of ${omegas.length} pairs`, of),
        positions,
        components: pairs.map((k) => ({
          name: `pair ${k}`,
          wavelength: wavelength(omegas[k]!),
          values: positions.map((p) => Math.cos(p * omegas[k]!)),
        })),
      }),
  };
}

function fingerprint({ of, omegas }: Spectrum, n: number, file: (name: string) => string): Figure {
  const pairs = omegas.length;
  return {
    name: file('frequencies'),
    title: 'cos(position · ω): every position has its own row',
    caption: sentences(
      'A row is one position, a column one channel pair. On the left, fast pairs change from row to row; on the right, slow pairs keep one colour over the whole picture.',
      'Where the stripes become wider than the training length, the model has never seen a full turn: that is where longer sequences leave known ground.',
    ),
    draw: () =>
      heatmap({
        title: 'cos(position · ω): every position has its own row',
        subtitle: facts(`${n} positions downward, ${pairs} channel pairs across`, of),
        x: { label: 'channel pair' },
        y: { label: 'position' },
        rows: n,
        cols: pairs,
        data: Float64Array.from({ length: n * pairs }, (_, i) => Math.cos(Math.floor(i / pairs) * omegas[i % pairs]!)),
        colorScale: 'diverging',
        domain: [-1, 1],
        valueLabel: 'cos',
      }),
  };
}

function wavelengths(spectra: readonly Spectrum[], n: number): Figure {
  const caption = sentences(
    'How many positions a pair needs for one full turn; each step up the axis is ten times as many.',
    `Pairs below the line have turned fully within the ${n} positions shown, those above have not.`,
    spectra.length > 1 && 'Where the lines part, frequencies are scaled; where they meet, they are not.',
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
