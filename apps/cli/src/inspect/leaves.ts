/** The encodings a config is made of, and the tables they state about themselves. */
import type { AnyEncoding, Dims, EncodingConfig, NamedTable, Registry } from '@posenc/core';

export interface Leaf {
  /** Where it stands in the config: '' for the config itself, 'of[0]', 'of[1].of[0]' … */
  readonly path: string;
  readonly plugin: AnyEncoding;
  /** Without `type`. */
  readonly config: unknown;
}

/** Every plug-in used by a config, in order. Nodes of the algebra have members instead of a plug-in. */
export function leavesOf(config: EncodingConfig, registry: Registry, path = ''): Leaf[] {
  const { type, of, ...rest } = config as { type: string; of?: EncodingConfig[] };
  const plugin = registry.plugins.find((p) => p.type === type);
  if (plugin) return [{ path, plugin, config: of === undefined ? rest : { of, ...rest } }];
  return (of ?? []).flatMap((member, i) => leavesOf(member, registry, `${path}${path && '.'}of[${i}]`));
}

export const tablesOf = ({ plugin, config }: Leaf, dims: Dims): readonly NamedTable[] =>
  plugin.tables?.(config, dims) ?? [];

/** A name for figures and headings: the type, and the place where several could be meant. */
export const nameOf = ({ path, plugin }: Leaf): string => (path ? `${plugin.type} (${path})` : plugin.type);
