/** The parts of a benchmark: what each measures, at which sizes, and the table that it ends with. */
import { type BackendName, type BackendReport, useBackend } from '@posenc/backend';
import { loadRegistry } from '../config/encoding.ts';
import type { Io } from '../io.ts';
import { attentionLengths, measureAttention, standardAttention } from './attention.ts';
import { backendContenders, type Contender, entries } from './contenders.ts';
import { measureDecoding } from './decoding.ts';
import type { BenchDocument } from './document.ts';
import { type Candidate, measureEncodings } from './encodings.ts';
import type { Measuring } from './machine.ts';
import {
  attentionText,
  decodingText,
  encodingHead,
  encodingText,
  productsText,
  profileText,
  standardStepText,
  trainingText,
} from './print.ts';
import { quickModel, quickSizes, standardModel, standardSizes } from './problem.ts';
import { measureProducts } from './products.ts';
import { measureProfile } from './profile.ts';
import { measureStandardStep } from './standard-step.ts';
import { measureTraining, trainable } from './training.ts';

/** What a full run takes, and what a look does. */
const plans = {
  normal: {
    step: standardSizes,
    model: standardModel,
    rounds: 7,
    attention: { sizes: standardAttention, lengths: attentionLengths, rounds: 5, limitSeconds: 8 },
    product: 512,
    training: { tokens: 2048, lengths: [1024, 2048] },
    decoding: [512, 2048],
    profiled: 10,
    encodings: { lengths: [128, 512, 2048], effort: { least: 3, most: 7, seconds: 1 } },
  },
  quick: {
    step: quickSizes,
    model: quickModel,
    rounds: 2,
    attention: { sizes: { numHeads: 2, headDim: 8, tokens: 64 }, lengths: [16, 32], rounds: 2, limitSeconds: 8 },
    product: 32,
    training: { tokens: 64, lengths: [16, 32] },
    decoding: [16, 32],
    profiled: 2,
    encodings: { lengths: [16, 32], effort: { least: 2, most: 2, seconds: 0 } },
  },
} as const;

/** Lengths of the part `encodings` when none are asked for. */
export const encodingLengths: readonly number[] = plans.normal.encodings.lengths;

/** What every part is given. */
export interface PartContext extends Measuring {
  readonly io: Io;
  readonly quick: boolean;
  /** `auto`: every backend that is present, or simd where one computes alone. */
  readonly backend: BackendName;
  /** Those backends, looked for once. */
  present(): Promise<readonly BackendReport[]>;
  readonly lengths?: readonly number[];
  /** Encodings, and whether they were asked for. */
  readonly candidates: readonly Candidate[];
  readonly chosen: boolean;
  /** Others that take the standard step, and the matrix product. */
  readonly contenders: readonly Contender[];
  readonly products: readonly Contender[];
  /** A table, or a piece of one. */
  say(text: string): void;
}

/** The results, by their name in the document. */
export type Results = Pick<
  BenchDocument,
  'standardStep' | 'attention' | 'products' | 'training' | 'decoding' | 'profile' | 'encodings'
>;

export const nothingMeasured: Results = {
  standardStep: null,
  attention: null,
  products: null,
  training: null,
  decoding: null,
  profile: null,
  encodings: null,
};

const planOf = ({ quick }: PartContext) => (quick ? plans.quick : plans.normal);

/** What computes where one backend computes alone. */
const alone = ({ backend }: PartContext): BackendName => (backend === 'auto' ? 'simd' : backend);

async function standardStep(context: PartContext): Promise<Partial<Results>> {
  const { step: sizes, rounds } = planOf(context);
  const backends = backendContenders(await context.present(), 'step-child');
  const result = await measureStandardStep(entries([...backends, ...context.contenders]), {
    ...context,
    sizes,
    rounds,
  });
  context.say(standardStepText(result));
  return { standardStep: result };
}

async function attention(context: PartContext): Promise<Partial<Results>> {
  const backends = backendContenders(await context.present(), 'attention-child');
  const result = await measureAttention(entries(backends), { ...context, ...planOf(context).attention });
  context.say(attentionText(result));
  return { attention: result };
}

async function products(context: PartContext): Promise<Partial<Results>> {
  const { product: size, rounds } = planOf(context);
  // A graphics card has no threads to compare.
  const backends = (await context.present()).filter(({ name }) => !/gpu/.test(name));
  const ours = backendContenders(backends, 'product-child');
  const all = [...ours, ...ours.filter(({ name }) => name === 'simd').map(narrow), ...context.products];
  const result = await measureProducts(entries(all, 1), { ...context, size, rounds });
  context.say(productsText(result));
  return { products: result };
}

/** Held to the 128 bits of WebAssembly's vectors, where V8 would pair them. */
function narrow({ name, start, ...rest }: Contender): Contender {
  const held = (problem: string, threads: number) => {
    const { env, ...command } = start(problem, threads);
    return { ...command, env: { ...env, POSENC_SIMD_WIDE: '0' } };
  };
  return { ...rest, name: `${name}, 128 bits`, start: held };
}

async function training(context: PartContext): Promise<Partial<Results>> {
  const { candidates, chosen, io } = context;
  const { model, rounds, training: sizes } = planOf(context);
  const plan = { sizes: model, rounds, ...sizes };
  await useBackend('cpu'); // to see what each fills; what measures is another process
  const { registry } = await loadRegistry([...new Set(candidates.flatMap(({ plugins }) => plugins))], io);
  const { trained, tooShort } = trainable(candidates, registry, plan, chosen ? 'all' : 'streamed');
  for (const { name, maxPosition } of tooShort)
    context.say(`not trained: ${name} is defined below position ${maxPosition}\n`);
  const result = await measureTraining(trained, { ...context, ...plan, backend: alone(context), cwd: io.cwd });
  context.say(trainingText(result));
  return { training: result };
}

async function decoding(context: PartContext): Promise<Partial<Results>> {
  const { model, rounds, decoding: lengths } = planOf(context);
  const result = await measureDecoding({ ...context, sizes: model, rounds, lengths, backend: alone(context) });
  context.say(decodingText(result));
  return { decoding: result };
}

async function profile(context: PartContext): Promise<Partial<Results>> {
  const { step: sizes, profiled: steps } = planOf(context);
  const result = await measureProfile({ ...context, sizes, steps, backend: alone(context) });
  context.say(profileText(result));
  return { profile: result };
}

async function encodings(context: PartContext): Promise<Partial<Results>> {
  const { lengths, effort } = planOf(context).encodings;
  context.say(encodingHead());
  const result = await measureEncodings(context.candidates, {
    ...context,
    effort,
    backend: alone(context),
    lengths: context.lengths ?? lengths,
    cwd: context.io.cwd,
    onRow: (row) => context.say(encodingText(row)),
  });
  return { encodings: result };
}

/** In the order in which they are measured. */
export const parts = {
  'standard-step': standardStep,
  attention,
  products,
  training,
  decoding,
  profile,
  encodings,
} as const satisfies Record<string, (context: PartContext) => Promise<Partial<Results>>>;

/** A part, as `--only` names it. */
export type PartName = keyof typeof parts;

export const partNames = Object.keys(parts) as PartName[];

/** Parts that read the encodings which are asked for. */
export const encodingParts: readonly PartName[] = ['training', 'encodings'];
