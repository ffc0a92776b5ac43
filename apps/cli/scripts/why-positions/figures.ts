/** The pictures of docs/why-positions.md, by file name. */
import { alibiSlopes } from '@posenc/alibi';
import { heatmap, lineChart, unitCircle } from '@posenc/plots';
import { ropeFrequencies } from '@posenc/rope';
import { sinusoidalTable } from '@posenc/sinusoidal';
import { meanCosines } from './at-init.ts';
import { type Measurements, random } from './measurements.ts';

const narrow = { width: 460 };

/** Those that follow from the numbers on the page alone. */
export const drawings = ({ variance }: Measurements): Readonly<Record<string, string>> => ({
  'variance.svg': varianceChart(variance),
  'absolute.svg': absolute(),
  'relative.svg': relative(),
  'rotary.svg': rotary(),
});

/** Those for which two models are run. */
export const similarities = (): Readonly<Record<string, string>> => ({
  'no-leak.svg': similarity(false),
  'causal-leak.svg': similarity(true),
});

const similarity = (causal: boolean) =>
  heatmap(
    {
      title: causal ? 'With a causal mask' : 'Everything visible',
      subtitle: 'Similarity of what positions receive, untrained, no positions given',
      x: { label: 'position' },
      y: { label: 'position' },
      rows: random.length,
      cols: random.length,
      data: meanCosines({ ...random, causal }, 1),
      colorScale: 'sequential',
      domain: [0, 1],
      valueLabel: 'cosine',
    },
    narrow,
  );

const varianceChart = ({ causal, bidirectional }: Measurements['variance']) => {
  const points = (values: readonly number[]) => values.map((y, i) => ({ x: i + 1, y }));
  const shares = [1, 4, 16, 64].map((n) => ({ value: 1 / n, label: n === 1 ? '1' : `1/${n}` }));
  return lineChart({
    title: 'The mask alone tells where a token is',
    subtitle: 'Mean square of what the first layer’s heads give out, untrained, as a share of that at the first token',
    x: { label: 'tokens that are seen, n', scale: 'log2', ticks: [1, 2, 4, 8, 16, 32, 64] },
    y: { label: 'share', scale: 'log2', domain: [1 / 80, 1.25], ticks: shares },
    series: [
      { name: 'causal mask', points: points(causal) },
      { name: '1/n', points: points(causal.map((_, i) => 1 / (i + 1))), muted: true },
      { name: 'everything visible', points: points(bidirectional) },
    ],
  });
};

function absolute(): string {
  const [positions, width] = [64, 64];
  const order = Array.from({ length: positions }, (_, p) => p);
  return heatmap(
    {
      title: 'Absolute: a pattern for each position',
      subtitle: 'Sinusoidal vectors, added to the tokens',
      x: { label: 'channel' },
      y: { label: 'position' },
      rows: positions,
      cols: width,
      data: sinusoidalTable(order, width, { layout: 'concatenated' }),
      colorScale: 'diverging',
      valueLabel: 'added',
    },
    narrow,
  );
}

function relative(): string {
  const tokens = 32;
  const slope = alibiSlopes(8)[2]!;
  const bias = Float64Array.from({ length: tokens * tokens }, (_, k) => {
    const distance = Math.floor(k / tokens) - (k % tokens);
    return distance < 0 ? Number.NaN : -slope * distance;
  });
  return heatmap(
    {
      title: 'Relative: a number for each distance',
      subtitle: 'ALiBi’s bias in the third of eight heads; grey: hidden',
      x: { label: 'key' },
      y: { label: 'query' },
      rows: tokens,
      cols: tokens,
      data: bias,
      colorScale: 'sequential',
      valueLabel: 'logits',
    },
    narrow,
  );
}

function rotary(): string {
  const positions = 12;
  const { invFreq } = ropeFrequencies({ base: 10000 }, { headDim: 32 });
  const pairs = [0, 3, 6].map((k) => ({
    name: `pair ${k}`,
    angles: Array.from({ length: positions }, (_, p) => p * invFreq[k]!),
  }));
  return unitCircle({
    title: 'Rotary: an angle for each position',
    subtitle: 'Where RoPE turns three of a head’s sixteen pairs at positions 0 to 11: fast, slower, slow',
    pairs,
  });
}
