/** One JSON document: typed arrays as arrays; numbers that JSON cannot say (an unbounded maxPosition) as null. */
export const toJson = (value: unknown): string =>
  `${JSON.stringify(value, (_, v: unknown) => (ArrayBuffer.isView(v) ? Array.from(v as Float64Array) : v), 2)}\n`;
