/** Figures that must all come out right: the gallery, and input that no layout likes. */
import { gallery } from '../examples/gallery.ts';
import { barChart, componentCurves, heatmap, lineChart, stepChart, unitCircle } from '../src/index.ts';

export const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);

const long =
  'RoPE base 10000, partial rotary factor 0.5, NTK factor auto applied at evaluation to the weights trained without, ';
const wide = '漢字の系列名前が長い場合の表示確認テスト🙂🙂🙂🙂🙂🙂🙂🙂';
const xy = { x: { label: 'x' }, y: { label: 'y' } };
const line = (name: string, y: readonly (number | null | undefined)[]) => ({
  name,
  points: y.map((value, x) => ({ x, y: value })),
});

export const hostile: Readonly<Record<string, () => string>> = {
  'one point': () => lineChart({ title: 'One point', ...xy, series: [line('a', [2])] }),
  'all equal': () => lineChart({ title: 'Equal', ...xy, series: [line('a', [5, 5, 5]), line('b', [5, 5, 5])] }),
  'all zero': () => lineChart({ title: 'Zero', ...xy, series: [line('a', [0, 0])] }),
  'range 1e9': () => lineChart({ title: 'Range', ...xy, series: [line('a', [-1e9, 1, 5e9]), line('b', [0, 1, 2])] }),
  'tiny differences': () => lineChart({ title: 'Tiny', ...xy, series: [line('a', [1e9, 1e9 + 1, 1e9 + 2])] }),
  'tiny numbers': () => lineChart({ title: 'Tiny', ...xy, series: [line('a', [1e-12, 3e-12, 2e-12])] }),
  'log axes': () =>
    lineChart({
      title: 'Log',
      x: { label: 'x', scale: 'log2' },
      y: { label: 'y', scale: 'log10' },
      series: [
        {
          name: 'spread to below zero',
          points: range(0, 9).map((i) => ({ x: 2 ** i, y: 10 ** (i - 3), low: -1, high: 10 ** (i - 2) })),
        },
        { name: 'nothing', points: [{ x: 1, y: Number.NaN }] },
      ],
    }),
  '200 series': () =>
    lineChart({
      title: '200 series',
      ...xy,
      series: range(1, 200).map((i) =>
        line(
          `series ${i}`,
          range(0, 40).map((x) => i * Math.exp(-x / 50)),
        ),
      ),
      references: [{ y: 50, label: 'half' }],
    }),
  '26 series': () =>
    lineChart({ title: '26 series', ...xy, series: range(1, 26).map((i) => line(`${long}${i}`, [i, 2, undefined])) }),
  'long texts': () =>
    lineChart({
      title: 'A very long title that goes on '.repeat(8),
      subtitle: 'And a subtitle. '.repeat(30),
      x: {
        label: 'An axis label '.repeat(12),
        ticks: range(0, 7).map((value) => ({ value, label: `${long}\n${value}` })),
      },
      y: { label: 'Another axis label '.repeat(12) },
      series: [wide, 'W'.repeat(90), long, `${long}2`].map((name, i) =>
        line(
          name,
          range(0, 7).map((x) => x * (i + 1)),
        ),
      ),
      references: [{ y: 20, label: long }],
    }),
  'markup in names': () =>
    lineChart({
      title: '<script>alert("1")</script> & more',
      x: { label: 'a < b' },
      y: { label: '"c" & d' },
      series: [line('a<b>&"c"\u0000\ud800', [1, 2])],
      references: [{ y: 1, label: '<&>' }],
    }),
  verticals: () =>
    lineChart({
      title: 'Verticals',
      ...xy,
      series: [line('a', range(0, 99)), line('b', range(1, 100))],
      verticals: [
        { x: 0, label: 'at the start' },
        { x: 50, label: long },
        { x: 51, label: 'close' },
        { x: 99, label: 'at the end' },
      ],
      references: [{ y: 100, label: 'top' }],
    }),
  'no names': () => lineChart({ title: '', x: { label: '' }, y: { label: '' }, series: [line('', [1, 2, 3])] }),
  narrow: () =>
    lineChart({ title: 'Narrow', ...xy, series: [line('RoPE, NTK at evaluation', range(0, 300))] }, { width: 360 }),
  steps: () => stepChart({ title: 'Steps', ...xy, series: [line('a', [0, 0, 1, null, 1, 2])] }),
  'heatmap 1 × 1': () =>
    heatmap({
      title: 'One',
      x: { label: '' },
      y: { label: '' },
      rows: 1,
      cols: 1,
      data: [5e-9],
      colorScale: 'sequential',
    }),
  'heatmap with gaps': () =>
    heatmap({
      title: 'Gaps',
      x: { label: 'offset', start: -3 },
      y: { label: 'head' },
      rows: 2,
      cols: 7,
      data: [1, 2, 3, Number.NaN, 5, 6, 7, 1, 1, 1, 1, Number.POSITIVE_INFINITY, -1, -9],
      colorScale: 'diverging',
      valueLabel: long,
    }),
  'heatmap 3000 × 1500': () =>
    heatmap({
      title: 'Large',
      subtitle: 'Sampled.',
      x: { label: 'column' },
      y: { label: 'row' },
      rows: 3000,
      cols: 1500,
      data: Float32Array.from({ length: 3000 * 1500 }, (_, i) => Math.sin(i)),
      colorScale: 'sequential',
    }),
  bars: () =>
    barChart({
      title: 'Bars',
      x: { label: 'parameters '.repeat(20) },
      baseline: 'b',
      bars: [
        { name: long, value: 1.2e9 },
        { name: 'b', value: 3e8, low: 2e8, high: 4e8 },
        { name: 'c<&>', value: -2e8, low: -3e8, high: -1e8 },
        { name: 'none', value: Number.NaN },
        { name: wide, value: 0 },
      ],
    }),
  'bars of zero': () => barChart({ title: 'Zero', x: { label: '' }, bars: [{ name: 'NoPE', value: 0 }] }),
  '60 bars, little height': () =>
    barChart(
      { title: '60 bars', x: { label: 'ms' }, bars: range(1, 60).map((i) => ({ name: `bar ${i}`, value: i * i })) },
      { plotHeight: 100 },
    ),
  '64 components': () =>
    componentCurves({
      title: 'Components',
      positions: range(0, 99),
      components: range(0, 63).map((k) => ({
        name: `${k} ${long}`,
        wavelength: k === 63 ? Number.POSITIVE_INFINITY : 2 ** k,
        values: range(0, 99).map((p) => (k === 63 ? 0 : Math.sin((2 * Math.PI * p) / 2 ** k))),
      })),
    }),
  'one component, one position': () =>
    componentCurves({ title: '', positions: [7], components: [{ name: '', wavelength: 6, values: [1] }] }),
  circles: () =>
    unitCircle({
      title: 'Circles',
      pairs: [
        { name: 'clockwise', angles: range(0, 15).map((p) => -p * 0.4) },
        { name: long, angles: range(0, 255).map((p) => p * 2.9) },
        { name: 'slow', angles: range(0, 15).map((p) => p * 1e-4) },
        { name: 'still', angles: [0, 0, 0] },
        { name: 'one', angles: [1] },
        { name: 'uneven', angles: [0, 1, 3, Number.NaN, 4] },
        { name: 'none', angles: [] },
      ],
    }),
};

export const samples: Readonly<Record<string, () => string>> = { ...gallery, ...hostile };
