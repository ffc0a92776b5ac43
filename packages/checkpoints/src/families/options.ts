/** Schemas of config.json's values that several families share, and their words in ours. */
import { z } from '@posenc/core';

export const size = z.int().min(1);
/** More than any model has; configs and lists by layer are built before the weights are looked at. */
export const layerCount = z.int().min(1).max(1000);
export const optionalSize = size.nullish();
export const flag = (byDefault: boolean) =>
  z
    .boolean()
    .nullish()
    .transform((value) => value ?? byDefault);
export const number = (byDefault: number) =>
  z
    .number()
    .positive()
    .nullish()
    .transform((value) => value ?? byDefault);

/** A setting that the shared transformer has no word for: this value, or absent. */
export const only = <const T extends boolean | number | string>(value: T) => z.literal(value).nullish();

/** config.json's names of the MLP's activation; of several for the same function, the first is written. */
const plain = {
  relu: 'relu',
  gelu: 'gelu',
  gelu_new: 'gelu-tanh',
  gelu_pytorch_tanh: 'gelu-tanh',
  gelu_fast: 'gelu-tanh',
} as const;

/** The same for the gate of a gated MLP. */
const gated = {
  silu: 'swiglu',
  swish: 'swiglu',
  gelu: 'geglu',
  gelu_pytorch_tanh: 'geglu-tanh',
  gelu_new: 'geglu-tanh',
} as const;

type Table = Readonly<Record<string, string>>;

const named = <T extends Table>(table: T) =>
  z.enum(Object.keys(table) as (keyof T & string)[]).transform((name): T[keyof T] => table[name]!);

export const plainActivation = named(plain);
export const gatedActivation = named(gated);

export function activationName(ours: string): string | undefined {
  return [plain, gated].flatMap((table: Table) => Object.keys(table).filter((name) => table[name] === ours))[0];
}
