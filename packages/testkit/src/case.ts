/** One law being checked for one subject: benches to check it on, and the comparisons that end in a LawError. */
import { type Encoding, holesOf, type Input, range } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { type Bench, createBench, type Logits, logitsOf, nothing, tokensFor } from './bench.ts';
import { LawError, type Settings, type Subject } from './law.ts';
import { type Stack, stacksOf } from './stack.ts';
import { MOVED, toleranceOf } from './tolerance.ts';

export interface LawSpec {
  readonly law: string;
  readonly statement: string;
  check(c: Case): Promise<void>;
}

export interface Case {
  readonly subject: Subject;
  readonly settings: Settings;
  /** Of the current backend. */
  readonly tolerance: number;
  readonly stacks: { readonly plain: Stack; readonly grouped: Stack; readonly bidirectional: Stack };
  /** The stacks the subject serves. */
  serving(): Stack[];
  /** A bench whose encoding has been seen to move the logits (unless it fills no hole at all). */
  bench(stack: Stack): Promise<Bench>;
  /** `wanted` tokens (default: the short length), or as many as the encoding has positions for. */
  lengthFor(bench: Bench, wanted?: number): number;
  /** The same values, up to the backend's tolerance. */
  equal(got: Logits, wanted: Logits, compared: string, hint: string): void;
  /** The same bits. */
  identical(got: Logits, wanted: Logits, compared: string, hint: string): void;
  /** Different by at least 50 tolerances. */
  moved(got: Logits, wanted: Logits, compared: string, hint: string): void;
  /** `act` throws PosencError, and its message contains `naming`. */
  refused(act: () => unknown, naming: string, compared: string, hint: string): void;
  fail(compared: string, found: string, hint: string): never;
}

export interface Deviation {
  readonly size: number;
  readonly index: number;
}

/** Largest absolute difference; infinite where one side is not a number, or the sizes differ. */
export function deviation(a: ArrayLike<number>, b: ArrayLike<number>): Deviation {
  if (a.length !== b.length) return { size: Number.POSITIVE_INFINITY, index: 0 };
  let [size, index] = [0, 0];
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs(a[i]! - b[i]!);
    if (!(difference <= size)) [size, index] = [Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference, i];
  }
  return { size, index };
}

/** Effects already measured: of one subject, by stack. */
const effects = new WeakMap<Subject, Map<string, Promise<number>>>();

export function createCase(law: string, subject: Subject, settings: Settings): Case {
  const backend = tf.getBackend();
  const tolerance = settings.tolerance ?? toleranceOf(backend);
  const stacks = stacksOf(settings);
  const fail = (compared: string, found: string, hint: string): never => {
    throw new LawError({ law, subject: subject.name, compared, found, hint });
  };
  const place = ({ length, width }: Logits, index: number) =>
    `row ${Math.floor(index / (length * width))}, token ${Math.floor(index / width) % length}`;
  const show = (value: number) => value.toExponential(1);
  const limits = `tolerance ${show(tolerance)} (${backend})`;

  const create = (stack: Stack): Encoding => subject.create(stack.dims);
  return {
    subject,
    settings,
    tolerance,
    stacks,
    serving() {
      const causalOnly = create(stacks.plain).traits.requiresCausal;
      return [stacks.plain, stacks.grouped, ...(causalOnly ? [] : [stacks.bidirectional])];
    },
    async bench(stack) {
      const bench = createBench(stack, create(stack), settings.seed);
      const least = MOVED * tolerance;
      const effect = await effectOf(subject, bench, settings);
      if (effect < least)
        fail(
          `logits with the encoding's parameters drawn at scale 1, and without the encoding (${stack.name}, ${settings.shortLength} tokens)`,
          `they differ by ${show(effect)} at most; an encoding that acts differs by ${show(least)} or more`,
          'hooks that are never filled or return their input; a term that softmax cancels; a config whose effect lies beyond these tokens',
        );
      return bench;
    },
    lengthFor: (bench, wanted = settings.shortLength) => Math.min(wanted, bench.encoding.traits.maxPosition),
    equal(got, wanted, compared, hint) {
      const { size, index } = deviation(got.data, wanted.data);
      if (size > tolerance)
        fail(compared, `largest deviation ${show(size)} at ${place(wanted, index)}; ${limits}`, hint);
    },
    identical(got, wanted, compared, hint) {
      const { size, index } = deviation(got.data, wanted.data);
      if (size > 0)
        fail(compared, `largest deviation ${show(size)} at ${place(wanted, index)}; equal bits are wanted`, hint);
    },
    moved(got, wanted, compared, hint) {
      const { size } = deviation(got.data, wanted.data);
      if (!Number.isFinite(size)) fail(compared, 'values that are not finite', hint);
      if (size < MOVED * tolerance)
        fail(compared, `they differ by ${show(size)} at most; ${show(MOVED * tolerance)} or more is wanted`, hint);
    },
    refused(act, naming, compared, hint) {
      try {
        act();
      } catch (error) {
        const { name, message } = error as Error;
        // By name: a published kit and an encoding may each bring a copy of core.
        if (name !== 'PosencError' && name !== 'ZodError')
          fail(compared, `${name} "${message}"; wanted is a PosencError`, hint);
        if (!message.includes(naming)) fail(compared, `the message "${message}" does not name ${naming}`, hint);
        return;
      }
      fail(compared, 'it was accepted', hint);
    },
    fail,
  };
}

function effectOf(subject: Subject, bench: Bench, settings: Settings): Promise<number> {
  const known = effects.get(subject) ?? new Map<string, Promise<number>>();
  effects.set(subject, known);
  const key = `${tf.getBackend()} ${JSON.stringify(bench.stack.config)}`;
  const effect = known.get(key) ?? measure();
  known.set(key, effect);
  return effect;

  async function measure(): Promise<number> {
    if (holesOf(bench.encoding, bench.stack.dims).length === 0) return Number.POSITIVE_INFINITY;
    const { maxPosition } = bench.encoding.traits;
    const length = Math.min(settings.shortLength, maxPosition);
    const input: Input = { tokens: tokensFor(bench, 2, length), positions: range(length) };
    const without = createBench(bench.stack, nothing, settings.seed);
    const [a, b] = [await logitsOf(bench, input), await logitsOf(without, input)];
    return deviation(a.data, b.data).size;
  }
}
