/** The stack an encoding is shown in, from `--dims modelDim=256,numHeads=4`. */
import { type Dims, dimsOf, PosencError, parseConfig, resolveModel, suggest, z } from '@posenc/core';

/** Small enough to see every channel: 4 layers, 4 heads of 32 channels, as in posenc's own comparisons. */
export const defaultDims = { modelDim: 128, numLayers: 4, numHeads: 4 } as const;

const size = (most: number) => z.int().min(1).max(most).optional();
/** Far beyond any published model, and small enough to measure. */
const schema = z.strictObject({
  modelDim: size(65536),
  embeddingDim: size(65536),
  numLayers: size(512),
  numHeads: size(1024),
  numKvHeads: size(1024),
  headDim: size(4096),
  causal: z.boolean().optional(),
});

const aliases: Readonly<Record<string, string>> = { layers: 'numLayers', heads: 'numHeads', kvHeads: 'numKvHeads' };
export const dimNames = Object.keys(schema.shape);

/** Parses `name=value,…`; what is not given comes from `defaultDims`. Throws PosencError for sizes that cannot be. */
export function parseDims(text: string | undefined): Dims {
  const given = parseConfig(schema, Object.fromEntries(pairs(text ?? '')), '--dims');
  const byHeads =
    given.headDim === undefined ? {} : { modelDim: given.headDim * (given.numHeads ?? defaultDims.numHeads) };
  return dimsOf(resolveModel({ ...defaultDims, ...byHeads, ...given, vocabSize: 1 }, '--dims'));
}

function pairs(text: string): [string, unknown][] {
  const seen = new Set<string>();
  return text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [name = '', value, ...rest] = part.split('=').map((s) => s.trim());
      const key = aliases[name] ?? name;
      if (value === undefined || value === '' || rest.length)
        throw new PosencError(
          `--dims: "${part.trim()}" is not name=value; write for example --dims modelDim=256,numHeads=4`,
        );
      if (!dimNames.includes(key))
        throw new PosencError(`--dims: no size is called "${name}": ${suggest(name, dimNames)}`);
      if (seen.has(key)) throw new PosencError(`--dims: ${key} is given twice`);
      seen.add(key);
      return [key, parsed(key, value)];
    });
}

function parsed(key: string, text: string): unknown {
  const wanted = key === 'causal' ? ['true', 'false'].includes(text) : Number.isFinite(Number(text));
  if (!wanted)
    throw new PosencError(
      `--dims: ${key} is "${text}"; it must be ${key === 'causal' ? 'true or false' : 'a whole number'}`,
    );
  return key === 'causal' ? text === 'true' : Number(text);
}
