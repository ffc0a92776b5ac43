/** config.json read key by key: several spellings of one thing must agree, and null is the same as absent. */
import { PosencError } from '@posenc/core';

export type Json = Readonly<Record<string, unknown>>;

/** One object of config.json. `place` says which, for messages. */
export interface Source {
  readonly place: string;
  readonly json: Json;
  has(key: string): boolean;
  /** A number under the first of these keys that is there. Throws PosencError when two differ, or it is no number. */
  number(...keys: readonly string[]): number | undefined;
  list(key: string): readonly unknown[] | undefined;
}

export function sourceOf(json: Json, place: string): Source {
  const present = (key: string) => json[key] !== undefined && json[key] !== null;
  const wrong = (key: string, wanted: string) =>
    new PosencError(`${place}: "${key}" is ${show(json[key])}; expected ${wanted}`);
  return {
    place,
    json,
    has: present,
    number(...keys) {
      const found = keys.filter(present);
      for (const key of found)
        if (typeof json[key] !== 'number' || !Number.isFinite(json[key])) throw wrong(key, 'a number');
      const [first, other] = [found[0], found.find((key) => json[key] !== json[found[0]!])];
      if (other !== undefined)
        throw new PosencError(
          `${place}: "${first}" is ${show(json[first!])} and "${other}" is ${show(json[other])}, two spellings of one thing: keep the right one`,
        );
      return first === undefined ? undefined : (json[first] as number);
    },
    list(key) {
      if (!present(key)) return undefined;
      if (!Array.isArray(json[key])) throw wrong(key, 'a list');
      return json[key];
    },
  };
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** Whether two JSON values say the same, in whatever order of keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((x, i) => sameJson(x, b[i]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => sameJson(a[key], b[key]));
}
