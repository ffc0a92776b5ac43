/** What a law is, and what it is checked against. Plain data and functions, so that any test runner can run them. */
import type { BackendName } from '@posenc/backend';
import type { Dims, Encoding, NamedTable } from '@posenc/core';

/** One law for one subject, ready for `it(law.name, law.run)`. */
export interface Law {
  /** The law and the subject, e.g. `shift invariance: rope {"base":100}`. */
  readonly name: string;
  /** The law alone. */
  readonly law: string;
  /** What it is checked for. */
  readonly subject: string;
  /** What must hold, in one sentence. */
  readonly statement: string;
  /** Rejects with a LawError when it does not hold. */
  run(): Promise<void>;
}

/** Something that creates encodings: a plug-in with one of its configs, a node of the algebra, a function of yours. */
export interface Subject {
  readonly name: string;
  create(dims: Dims): Encoding;
  /** Tables the subject claims to be made of, to be held against its hooks. */
  tables?(dims: Dims): readonly NamedTable[];
}

/** Sizes of the stacks that laws build, and the backends they compare. */
export interface LawOptions {
  /** Tokens where distance matters (buckets): decoding, shifts. Default 132, past the last of T5's usual buckets. */
  readonly length?: number;
  /** Tokens elsewhere. Default 32. A config must show its effect within them. */
  readonly shortLength?: number;
  /** Numbers of heads to build stacks with; the first gets plain heads, the last also grouped ones. Default [3, 4]. */
  readonly heads?: readonly number[];
  /** Default 8. */
  readonly headDim?: number;
  /** Default 20: not numHeads × headDim, so that neither can stand in for the other. */
  readonly modelDim?: number;
  /** Seed of weights and tokens. Default 1. */
  readonly seed?: number;
  /** Backends that must agree, e.g. ['cpu', 'simd']; with one or none the law of agreement is left out. */
  readonly backends?: readonly BackendName[];
  /** Only for a backend that the tolerance table does not list. */
  readonly tolerance?: number;
}

/** The same with the defaults filled in. */
export type Settings = Required<Omit<LawOptions, 'tolerance'>> & Pick<LawOptions, 'tolerance'>;

/** Fills the defaults in. */
export const settingsOf = (options: LawOptions = {}): Settings => ({
  length: options.length ?? 132,
  shortLength: options.shortLength ?? 32,
  heads: options.heads ?? [3, 4],
  headDim: options.headDim ?? 8,
  modelDim: options.modelDim ?? 20,
  seed: options.seed ?? 1,
  backends: options.backends ?? [],
  tolerance: options.tolerance,
});

/** What a law found: the parts of its message. */
export interface Violation {
  readonly law: string;
  readonly subject: string;
  /** What was held against what, and where. */
  readonly compared: string;
  /** What was found: the largest deviation and where, or what happened instead. */
  readonly found: string;
  /** The kind of bug that makes it. */
  readonly hint: string;
}

/** A law that does not hold: says which, for whom, by how much, and where to look. */
export class LawError extends Error {
  override readonly name = 'LawError';
  readonly violation: Violation;

  constructor(violation: Violation, options?: ErrorOptions) {
    const { law, subject, compared, found, hint } = violation;
    super(
      `${law} does not hold for ${subject}\n  compared: ${compared}\n  found: ${found}\n  look for: ${hint}`,
      options,
    );
    this.violation = violation;
  }
}
