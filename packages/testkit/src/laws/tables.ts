/** The tables a plug-in shows on the host, against what its hooks do on the device. */
import {
  attention,
  createMask,
  type Dims,
  drawParam,
  explicit,
  type NamedTable,
  planOffsets,
  range,
} from '@posenc/core';
import type { Tensor, Tensor3D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { type Bench, createBench, type Weights } from '../bench.ts';
import { biasOf, values, withHooks } from '../call-hooks.ts';
import type { Case, LawSpec } from '../case.ts';

export const tables: LawSpec = {
  law: 'tables',
  statement:
    'Tables shown are what the hooks do: every coefficient of embed, infuse and rotate is a sinusoid of the position at a shown frequency, and all are used; offsets in one bucket, and only they, share a bias; head h loses slope[h] per token of distance.',
  async check(c) {
    for (const stack of c.serving()) {
      const bench = await c.bench(stack);
      const shown = c.subject.tables?.(stack.dims) ?? [];
      const of = (quantity: NamedTable['quantity']) => shown.filter((table) => table.quantity === quantity);
      await frequencies(c, bench, of('frequency'));
      for (const table of of('bucket')) await buckets(c, bench, table);
      for (const table of of('slope')) await slopes(c, bench, table);
    }
  },
};

/** Among them what bfloat16 (257), float16 (2049) and the angles of float32 (20,001 and on) get wrong. */
const probes = [0, 1, 2, 3, 5, 8, 13, 57, 131, 257, 1025, 2049, 4099, 15_962, 20_001, 32_769];

async function frequencies(c: Case, bench: Bench, shown: readonly NamedTable[]) {
  if (shown.length === 0) return;
  const known = [0, ...new Set(shown.flatMap((table) => Array.from(table.data)))];
  const { modelDim, embeddingDim, headDim, numLayers, numHeads, numKvHeads } = bench.stack.dims;
  const positions = explicit([probes.filter((p) => p < bench.encoding.traits.maxPosition)]);
  const used = new Set<number>();

  const hold = (hook: string, courses: readonly Float64Array[]) => {
    courses.forEach((course, i) => {
      let best = { residual: Number.POSITIVE_INFINITY, omega: 0 };
      for (const omega of known) {
        const residual = residualAt(omega, positions.data, course);
        if (residual < best.residual) best = { residual, omega };
        if (residual <= c.tolerance) break;
      }
      if (!(best.residual <= c.tolerance))
        c.fail(
          `coefficient ${i} of ${hook} at positions ${positions.data.join(', ')}, with a·cos(ωp) + b·sin(ωp) for each frequency shown (${bench.stack.name})`,
          `deviation ${best.residual.toExponential(1)} at the nearest, ω = ${best.omega}; tolerance ${c.tolerance.toExponential(1)}`,
          'positions rounded to half precision; angles in float32; frequencies spaced by another width, or scaled in one place only',
        );
      used.add(best.omega);
    });
  };

  // Encodings that read the sequence length show their unscaled frequencies too: ask for those.
  await withHooks(
    bench,
    bench.weights,
    positions,
    async (hooks) => {
      const length = positions.cols;
      // What is added to zeros or, by a product, made of ones.
      const vectors = async (act: (x: Tensor3D) => Tensor3D, width: number) => {
        const added = await values(act(tf.zeros([1, length, width])));
        return coursesOf(added.some((v) => v !== 0) ? added : await values(act(tf.ones([1, length, width]))), length);
      };
      if (hooks.embed) hold('embed', await vectors(hooks.embed, embeddingDim));
      for (let l = 0; l < numLayers; l++) {
        const { infuse, rotate } = hooks.layer?.(l) ?? {};
        if (infuse) hold('infuse', await vectors(infuse, modelDim));
        if (!rotate) continue;
        for (const [side, heads] of [
          ['query', numHeads],
          ['key', numKvHeads],
        ] as const)
          for (let channel = 0; channel < headDim; channel++) {
            const one = tf.oneHot(tf.tensor1d([channel], 'int32'), headDim).toFloat();
            const basis = tf.add(tf.zeros([1, heads, length, headDim]), one) as Tensor4D;
            const turned = tf.slice(rotate(basis, side), [0, 0, 0, 0], [1, 1, -1, -1]);
            hold(`rotate (${side}) of channel ${channel}`, coursesOf(await values(turned), length));
          }
      }
    },
    1,
  );
  if (used.size > 0 && !shown.some((table) => Array.from(table.data).every((omega) => used.has(omega))))
    c.fail(
      `frequencies shown with those found in the hooks (${bench.stack.name})`,
      `found only ${[...used].join(', ')}`,
      'a frequency skipped or used twice; frequencies spaced by another width',
    );
}

/** [T, n] values → n courses over the positions. */
function coursesOf(data: Float32Array, length: number): Float64Array[] {
  const width = data.length / length;
  return Array.from({ length: width }, (_, i) => Float64Array.from({ length }, (_, t) => data[t * width + i]!));
}

/** Largest deviation of a course from its least-squares a·cos(ωp) + b·sin(ωp). */
function residualAt(omega: number, positions: ArrayLike<number>, course: Float64Array): number {
  const [cos, sin] = [Math.cos, Math.sin].map((f) => Float64Array.from(positions, (p) => f(omega * p))) as [
    Float64Array,
    Float64Array,
  ];
  const dot = (u: Float64Array, v: Float64Array) => u.reduce((sum, x, i) => sum + x * v[i]!, 0);
  const [cc, cs, ss, cy, sy] = [dot(cos, cos), dot(cos, sin), dot(sin, sin), dot(cos, course), dot(sin, course)];
  const det = cc * ss - cs * cs;
  const [a, b] = omega === 0 ? [cy / cc, 0] : [(cy * ss - sy * cs) / det, (sy * cc - cy * cs) / det];
  return course.reduce((max, y, i) => Math.max(max, Math.abs(y - a * cos[i]! - b * sin[i]!)), 0);
}

async function buckets(c: Case, bench: Bench, { axes, shape, start, data }: NamedTable) {
  const n = shape.at(-1)!;
  if (axes.at(-1) !== 'offset') return;
  const first = start?.at(-1) ?? 0;
  const { causal, numHeads } = bench.stack.dims;
  // A causal stack never asks for what lies ahead.
  const asked = Int32Array.from({ length: n }, (_, i) => first + i).filter((offset) => !causal || offset <= 0);
  const bias = await biasOf(bench, 0, asked, range(2));
  if (!bias) return;
  const bucket = (offset: number) => data[offset - first]!;
  const column = (i: number) => Array.from({ length: numHeads }, (_, h) => bias[h * asked.length + i]!).join();
  const seen = new Map<number, string>();
  asked.forEach((offset, i) => {
    const id = bucket(offset);
    const known = seen.get(id) ?? column(i);
    seen.set(id, known);
    if (column(i) !== known || [...seen].some(([other, value]) => other !== id && value === known))
      c.fail(
        `the bias at offset ${offset} with that of other offsets in bucket ${id} (${bench.stack.name})`,
        column(i) === known ? 'another bucket has the same' : 'it is not the same',
        'a bucket rule in the hook other than the one shown: sign of the offset, logarithm, number of buckets',
      );
  });
}

/** Bias of all pairs i, j relative to the pair i, i, from the attention weights of zero queries and one-hot values. */
async function biasByAttention(bench: Bench, weights: Weights, layer: number, length: number): Promise<Float32Array> {
  const { numHeads, headDim, modelDim, causal }: Dims = bench.stack.dims;
  let bias: Float32Array = new Float32Array();
  const positions = range(length);
  await withHooks(bench, weights, positions, async (hooks) => {
    const zeros = tf.zeros([1, numHeads, length, headDim]) as Tensor4D;
    const layerHooks = hooks.layer?.(layer) ?? {};
    const seen = attention(
      zeros,
      layerHooks.rotate?.(zeros, 'key') ?? zeros,
      tf.mul(tf.ones([1, numHeads, 1, 1]), tf.eye(length).reshape([1, 1, length, length])) as Tensor4D,
      layerHooks,
      {
        mask: createMask({ causal, numQueries: length, numKeys: length }),
        scoreScale: headDim ** -0.5,
        offsets: planOffsets(positions, positions),
        x: tf.zeros([1, length, modelDim]) as Tensor3D,
        rawKeys: zeros,
      },
    );
    bias = await logRatios(seen, length);
  });
  return bias;
}

async function logRatios(weights: Tensor, length: number): Promise<Float32Array> {
  const w = await values(weights);
  return w.map((value, index) => {
    const row = Math.floor(index / length);
    return Math.log(value) - Math.log(w[row * length + (row % length)]!);
  });
}

async function slopes(c: Case, bench: Bench, table: NamedTable) {
  const { numHeads, causal, numLayers } = bench.stack.dims;
  if (table.shape.length !== 1 || table.shape[0] !== numHeads) return;
  const initial = createBench(bench.stack, bench.encoding, c.settings.seed);
  const weights: Record<string, Float32Array> = { ...initial.weights };
  // Tables show the start of what is learned.
  for (const [name, spec] of Object.entries(bench.encoding.params))
    weights[`encoding.${name}`] = drawParam(spec, c.settings.seed, `encoding.${name}`);
  const length = c.lengthFor(bench);
  const expected = (h: number, offset: number) => -table.data[h]! * Math.abs(offset);
  const hold = (got: number, h: number, offset: number, how: string) => {
    const wanted = expected(h, offset);
    if (!(Math.abs(got - wanted) <= c.tolerance * Math.max(1, Math.abs(wanted))))
      c.fail(
        `the bias of head ${h} at offset ${offset}, ${how}, with −slope · |offset| (${bench.stack.name})`,
        `${got.toPrecision(7)} instead of ${wanted.toPrecision(7)}`,
        'a sign; heads in another order; distances in half precision; a form that is right under a causal mask only',
      );
  };
  for (let l = 0; l < numLayers; l++) {
    const bias = await biasByAttention(bench, weights, l, length);
    for (let h = 0; h < numHeads; h++)
      for (let i = 0; i < length; i++)
        for (let j = 0; j < (causal ? i + 1 : length); j++)
          // exp(−60) is still a normal float32
          if (expected(h, j - i) > -60) hold(bias[(h * length + i) * length + j]!, h, j - i, 'as attention sees it');
    const far = Int32Array.of(-257, -2049, -15_963, -65_537);
    const row = await biasOf(bench, l, far, range(2), weights);
    row?.forEach((value, i) => {
      hold(value, Math.floor(i / far.length), far[i % far.length]!, 'by relativeBias');
    });
  }
}
