/** What makes a value an encoding; the compiler tells authors who use defineEncoding, this tells the others. */
import { type AnyEncoding, PosencError } from '@posenc/core';

/** Meant as an encoding, whether or not it is one. */
export function resemblesEncoding(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && ('contract' in value || ('type' in value && 'create' in value));
}

/** The value as an encoding. Throws PosencError naming `where` and everything that is missing. */
export function checkContract(value: unknown, where: string): AnyEncoding {
  const e = value as Record<string, unknown>;
  if (e.contract !== 1)
    throw new PosencError(
      `${where}: it is written for contract ${JSON.stringify(e.contract)}, and this posenc speaks contract 1: ` +
        `${typeof e.contract === 'number' && e.contract > 1 ? 'update posenc' : 'set contract: 1'}`,
    );
  const isText = (v: unknown) => typeof v === 'string' && v.trim() !== '';
  const problems = [
    !(typeof e.type === 'string' && /^[\w-]+$/.test(e.type)) && 'type must be a name of letters, digits, - and _',
    !isText(e.reference) && 'reference must say where the encoding comes from (paper, year, link)',
    !isText(e.equation) && 'equation must be one line of text',
    !(Array.isArray(e.notes) && e.notes.every(isText)) && 'notes must be a list of texts (it may be empty)',
    !(typeof e.config === 'object' && e.config !== null && '_zod' in e.config) &&
      "config must be a zod 4 schema: import { z } from '@posenc/core', then z.strictObject({ … })",
    typeof e.create !== 'function' && 'create must be a function (config, dims) → encoding',
    e.tables !== undefined && typeof e.tables !== 'function' && 'tables must be a function, if there is one',
  ].filter((p) => p !== false);
  if (problems.length)
    throw new PosencError(`${where} is not a complete encoding:\n${problems.map((p) => `  - ${p}`).join('\n')}`);
  return value as AnyEncoding;
}
