/**
 * Draws every figure from made-up but realistic numbers into a folder, or without one those of the README beside this file:
 *
 *     node --conditions=posenc-source examples/gallery.ts [folder]
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { barChart, componentCurves, heatmap, lineChart, stepChart, unitCircle } from '../src/index.ts';

const encodings = [
  'RoPE',
  'RoPE, PI at evaluation',
  'RoPE, NTK at evaluation',
  'ALiBi',
  'T5 bias',
  'sinusoidal',
  'learned',
  'NoPE',
];
const references = [
  { y: 3.35, label: 'unigram' },
  { y: 2.48, label: 'bigram' },
];
const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
/** Noise in [−1, 1] that is the same on every run. */
const noise = (a: number, b: number) => 2 * ((Math.sin(a * 12.9898 + b * 78.233) * 43758.5453) % 1);

function extrapolation(): string {
  const lengths = [64, 128, 256, 512];
  const loss: Record<string, (number | undefined)[]> = {
    RoPE: [2.18, 2.61, 3.52, 4.31],
    'RoPE, PI at evaluation': [2.18, 2.49, 2.86, 3.2],
    'RoPE, NTK at evaluation': [2.18, 2.24, 2.45, 2.83],
    ALiBi: [2.2, 2.18, 2.17, 2.17],
    'T5 bias': [2.19, 2.2, 2.26, 2.37],
    sinusoidal: [2.31, 3.6, 5.1, 6.02],
    learned: [2.33, undefined, undefined, undefined],
    NoPE: [2.27, 2.3, 2.52, 2.97],
  };
  return lineChart(
    {
      title: 'Extrapolation: ALiBi and T5 hold, sinusoidal explodes',
      subtitle:
        'Made-up numbers. Loss on the last 64 characters of each window, trained on 64; mean and range of 3 seeds.',
      x: {
        label: 'evaluation length',
        scale: 'log2',
        ticks: lengths.map((value) => ({ value, label: `${value / 64}×\n${value}` })),
      },
      y: { label: 'loss (nats per character)' },
      series: encodings.map((name, e) => ({
        name,
        dashed: name.includes(','),
        muted: name === 'NoPE',
        points: lengths.map((x, i) => {
          const y = loss[name]?.[i];
          const spread = 0.02 + 0.05 * i * (1 + 0.5 * noise(e, i));
          return y === undefined ? { x, y } : { x, y, low: y - spread, high: y + spread };
        }),
      })),
      references,
    },
    { names: encodings },
  );
}

function lossCurves(): string {
  return lineChart(
    {
      title: 'Training loss',
      subtitle: 'Made-up numbers. 300 steps of 16 × 64 characters; one seed.',
      x: { label: 'step' },
      y: { label: 'loss (nats per character)' },
      series: encodings
        .filter((name) => !name.includes(','))
        .map((name, e) => ({
          name,
          points: range(1, 300).map((x) => ({
            x,
            y: 2.15 + 0.05 * e + 2 * Math.exp(-x / (35 + 6 * e)) + 0.04 * noise(e, x),
          })),
        })),
      references,
    },
    { names: encodings },
  );
}

function ropeFrequencies(): string {
  const [rows, cols] = [256, 32];
  const data = range(0, rows * cols - 1).map((i) => Math.cos(Math.floor(i / cols) * 10000 ** (-(i % cols) / cols)));
  return heatmap({
    title: 'RoPE: cos(position · θ) of each dimension pair',
    subtitle: 'Head dimension 64, base 10000.',
    x: { label: 'dimension pair' },
    y: { label: 'position' },
    rows,
    cols,
    data,
    colorScale: 'diverging',
    valueLabel: 'cos',
  });
}

function sinusoids(): string {
  const positions = range(0, 255);
  return componentCurves({
    title: 'Sinusoidal: some components of width 64',
    subtitle: 'The tinted strip is one wavelength.',
    positions,
    components: [0, 8, 16, 24, 32, 48, 62].map((k) => {
      const frequency = 10000 ** (-k / 64);
      return {
        name: `sin, channel ${k}`,
        wavelength: (2 * Math.PI) / frequency,
        values: positions.map((p) => Math.sin(p * frequency)),
      };
    }),
  });
}

function rotations(): string {
  const pair = (name: string, step: number) => ({ name, angles: range(0, 11).map((p) => p * step) });
  return unitCircle({
    title: 'RoPE: rotation of three pairs at positions 0 … 11',
    pairs: [
      pair('pair 0 (fast)', 1),
      pair('pair 12 (middle)', 10000 ** (-6 / 32)),
      pair('pair 31 (slow)', 10000 ** (-31 / 32)),
    ],
  });
}

/** Raffel et al. 2020, bidirectional, 32 buckets, maximal distance 128. */
function t5Buckets(): string {
  const bucket = (offset: number) => {
    const distance = Math.abs(offset);
    const side = offset > 0 ? 16 : 0;
    return side + (distance < 8 ? distance : Math.min(15, 8 + Math.floor((Math.log(distance / 8) / Math.log(16)) * 8)));
  };
  return stepChart({
    title: 'T5: bucket of each offset',
    subtitle: '32 buckets, maximal distance 128.',
    x: { label: 'offset (key − query)' },
    y: { label: 'bucket' },
    series: [
      { name: 'bidirectional', points: range(-150, 150).map((x) => ({ x, y: bucket(x) })) },
      {
        name: 'causal',
        dashed: true,
        points: range(-150, 0).map((x) => ({
          x,
          y: x === 0 ? 0 : Math.min(31, -x < 16 ? -x : 16 + Math.floor((Math.log(-x / 16) / Math.log(8)) * 16)),
        })),
      },
    ],
  });
}

function alibiBias(): string {
  return lineChart({
    title: 'ALiBi: bias by distance, 8 heads',
    x: { label: 'distance (query − key)' },
    y: { label: 'bias added to the logit' },
    series: range(1, 8).map((head) => ({
      name: `head ${head}, slope 1/${2 ** head}`,
      points: range(0, 64).map((x) => ({ x, y: -x * 2 ** -head })),
    })),
  });
}

function cost(): string {
  const values = [231, 231.5, 232, 224, 318, 219, 220, 217];
  return barChart(
    {
      title: 'Cost: T5 bias takes half as much time again',
      subtitle: 'Made-up numbers. Range of 5 repeats; in brackets, compared with NoPE.',
      x: { label: 'time per training step (ms)' },
      bars: encodings.map((name, i) => ({ name, value: values[i], low: values[i]! - 6, high: values[i]! + 9 })),
      baseline: 'NoPE',
    },
    { names: encodings },
  );
}

export const gallery: Readonly<Record<string, () => string>> = {
  extrapolation,
  'loss-curves': lossCurves,
  'rope-frequencies': ropeFrequencies,
  sinusoids,
  rotations,
  't5-buckets': t5Buckets,
  'alibi-bias': alibiBias,
  cost,
};

/** Those that the README shows. */
export const shown = ['extrapolation', 'rope-frequencies', 'rotations'] as const;

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const folder = process.argv[2];
  const target = folder ?? import.meta.dirname;
  mkdirSync(target, { recursive: true });
  for (const name of folder ? Object.keys(gallery) : shown) {
    const svg = gallery[name]!();
    writeFileSync(join(target, `${name}.svg`), svg);
    console.log(`${name}.svg  ${(svg.length / 1024).toFixed(1)} kB`);
  }
}
