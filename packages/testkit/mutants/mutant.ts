/** A planted bug: an edit of a real encoding's source, and the law that must notice. */

export interface Edit {
  /** File under the encoding's `src`. */
  readonly file: string;
  /** Text that must occur exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface Mutant {
  /** Package under `packages/encodings`, and the name of its export. */
  readonly encoding: string;
  readonly bug: string;
  /** Where the like has been seen: repository#number, or what it imitates. */
  readonly seen?: string;
  readonly edits: readonly Edit[];
  /** Helpers appended to the first edited file. */
  readonly helpers?: string;
  /** Configs the laws are run with. */
  readonly configs: readonly object[];
  /** The law that must catch it; others may too. */
  readonly caughtBy: string;
}

/** Rounds like bfloat16: 8 significant bits. */
export const bfloat16 = `
function bfloat16(x: number): number {
  const bits = new Uint32Array(new Float32Array([x]).buffer);
  bits[0] = (bits[0]! + 0x7fff + ((bits[0]! >>> 16) & 1)) & 0xffff0000;
  return new Float32Array(bits.buffer)[0]!;
}
`;
