/** The tensors of a file under one spelling of their names, and what becomes of those that no parameter takes its numbers from. */
import { PosencError } from '@posenc/core';
import type { Family, Names } from './families/family.ts';
import type { HostTensor } from './safetensors.ts';

export interface NamedTensor {
  /** As the file spells it. */
  readonly name: string;
  readonly tensor: HostTensor;
}

/** By today's full name. */
export type TensorFile = ReadonlyMap<string, NamedTensor>;

export interface Ignored {
  readonly name: string;
  readonly reason: string;
}

export function canonicalNames(
  tensors: ReadonlyMap<string, HostTensor>,
  { prefix = '', renamed = [] }: Names,
): TensorFile {
  const bare = ![...tensors.keys()].some((name) => name.startsWith(prefix));
  const canonical = (name: string) =>
    renamed.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), bare ? prefix + name : name);
  return new Map(Array.from(tensors, ([name, tensor]) => [canonical(name), { name, tensor }]));
}

/** Whether a file holds a head whose numbers are not those of the token embedding. */
export function hasOwnHead(file: TensorFile, { head = '' }: Names, embedding: string): boolean {
  const [own, tokens] = [file.get(head), file.get(embedding)];
  return own !== undefined && tokens !== undefined && !equal(own.tensor, tokens.tensor);
}

/** Throws PosencError when a tensor is neither used nor known to be superfluous. */
export function ignoredTensors(
  file: TensorFile,
  used: ReadonlySet<string>,
  { names, architecture }: Family,
): Ignored[] {
  const left = Array.from(file).filter(([canonical]) => !used.has(canonical));
  const unknown: NamedTensor[] = [];
  const ignored = left.flatMap(([canonical, found]): Ignored[] => {
    const reason = reasonToIgnore(canonical, found, file, names);
    if (reason === undefined) unknown.push(found);
    return reason === undefined ? [] : [{ name: found.name, reason }];
  });
  if (unknown.length === 0) return ignored;
  const [{ name, tensor }] = unknown as [NamedTensor];
  const more = unknown.length > 1 ? ` (and ${unknown.length - 1} more)` : '';
  throw new PosencError(
    `the file's tensor "${name}" [${tensor.shape.join(', ')}]${more} is no part of the ${architecture} that config.json ` +
      'describes: it is another kind of model, or config.json belongs to another file',
  );
}

function reasonToIgnore(
  canonical: string,
  { name, tensor }: NamedTensor,
  file: TensorFile,
  names: Names,
): string | undefined {
  if (canonical === names.head) return 'the token embedding again';
  const original = names.copies?.[canonical];
  if (original === undefined) return names.ignored?.find(([pattern]) => pattern.test(canonical))?.[1];
  const other = file.get(original);
  if (other && !equal(tensor, other.tensor))
    throw new PosencError(`the file's tensors "${name}" and "${other.name}" should be the same and are not`);
  return other && `"${other.name}" again`;
}

const equal = (a: HostTensor, b: HostTensor): boolean =>
  a.data.length === b.data.length && a.data.every((value, i) => value === b.data[i]);
