/** Turns a failed schema check into one message that names the place, what was found and what is allowed. */
import { distance } from 'fastest-levenshtein';
import type { ZodType } from 'zod';
import { PosencError } from './errors.ts';

/** Checks `value` against a schema. Throws PosencError listing the problems; `where` says whose config it is. */
export function parseConfig<T>(schema: ZodType<T>, value: unknown, where: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap((issue) => describe(issue as Issue, schema, value));
  if (problems.length === 1) throw new PosencError(`${where}: ${problems[0]}`);
  const [shown, rest] = [problems.slice(0, maxProblems), problems.length - maxProblems];
  const lines = [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].map((line) => `  - ${line}`);
  throw new PosencError(`${where}:\n${lines.join('\n')}`);
}

/** More than anybody reads at once. */
const maxProblems = 10;

/** ` (did you mean "x"?)` when one of the candidates is close, else the list of what is allowed. */
export function suggest(name: string, candidates: readonly string[]): string {
  const far = (candidate: string) => distance(name.toLowerCase(), candidate.toLowerCase());
  const nearest = [...candidates].sort((a, b) => far(a) - far(b))[0];
  if (nearest !== undefined && far(nearest) <= Math.max(2, Math.floor(name.length / 3)))
    return `did you mean "${nearest}"?`;
  return candidates.length ? `allowed: ${candidates.join(', ')}` : 'no keys are allowed here';
}

interface Issue {
  readonly code: string;
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly keys?: readonly string[];
  readonly errors?: readonly (readonly Issue[])[];
}

function describe(issue: Issue, schema: ZodType, value: unknown): string[] {
  const place = issue.path.length ? `"${brief(issue.path.join('.'))}" ` : '';
  if (issue.code === 'unrecognized_keys') {
    const allowed = keysAt(schema, value, issue.path);
    const inside = issue.path.length ? ` in "${brief(issue.path.join('.'))}"` : '';
    return (issue.keys ?? []).map((key) => `unknown key "${brief(key)}"${inside}: ${suggest(key, allowed)}`);
  }
  if (issue.code === 'invalid_union' && issue.errors?.length) {
    // The branch that got furthest is the one that was meant.
    const depth = (branch: readonly Issue[]) => Math.max(...branch.map((b) => b.path.length));
    const best = [...issue.errors].sort((a, b) => depth(b) - depth(a) || a.length - b.length)[0]!;
    const found = show(at(value, issue.path));
    const nested = best.map((b) => b.message.toLowerCase());
    return [`${place}${place ? 'is' : 'value is'} ${found}: ${[...new Set(nested)].join('; ')}`];
  }
  const found = at(value, issue.path);
  const missing = found === undefined && issue.code === 'invalid_type';
  const message = issue.message.replace(/^Invalid (input|option): /, '');
  return [
    missing
      ? `${place}is missing: ${message.replace(/, received undefined$/, '')}`
      : `${place || 'it '}is ${show(found)}: ${message}`,
  ];
}

function at(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((v, key) => (v as Record<string | number, unknown> | undefined)?.[key], value);
}

function show(value: unknown): string {
  return brief(JSON.stringify(value) ?? String(value));
}

/** Text that may be of any length, as a message quotes it. */
export const brief = (text: string): string => (text.length > 60 ? `${text.slice(0, 57)}…` : text);

interface Def {
  readonly type: string;
  readonly innerType?: ZodType;
  readonly in?: ZodType;
  readonly element?: ZodType;
  readonly shape?: Record<string, ZodType>;
  readonly options?: readonly ZodType[];
  readonly discriminator?: string;
}

/** The keys a strict object schema allows at a path, following the value where a union asks for it. */
function keysAt(schema: ZodType, value: unknown, path: readonly (string | number)[]): string[] {
  const def = schema._zod.def as unknown as Def;
  const inner = def.innerType ?? def.in;
  if (inner) return keysAt(inner, value, path);
  if (def.type === 'union') {
    const tag = def.discriminator;
    const options = def.options ?? [];
    const matching = tag
      ? options.filter((o) => (o._zod.def as unknown as Def).shape?.[tag]?.safeParse(at(value, [tag])).success)
      : options;
    return [...new Set(matching.flatMap((option) => keysAt(option, value, path)))];
  }
  const [head, ...rest] = path;
  if (head === undefined) return Object.keys(def.shape ?? {});
  const next = def.type === 'array' ? def.element : def.shape?.[String(head)];
  return next ? keysAt(next, at(value, [head]), rest) : [];
}
