/** `posenc schema`: JSON Schema of what posenc reads, for editors and programs. */
import { modelSchema, type Registry, z } from '@posenc/core';
import { Argument } from 'commander';
import { loadRegistry } from '../config/encoding.ts';
import { toJson } from '../ui/json.ts';
import { type AddCommand, withExamples, withJson, withPlugins } from './common.ts';

/** Every kind of document by name. A new kind is one line here. */
const schemas: Readonly<Record<string, (registry: Registry) => unknown>> = {
  encoding: (registry) => registry.jsonSchema(),
  model: () => z.toJSONSchema(modelSchema, { io: 'input' }),
};

export const addSchema: AddCommand = (program, io) => {
  const kinds = Object.keys(schemas);
  const command = program
    .command('schema')
    .summary('print the JSON Schema of a config')
    .description(
      'Print the JSON Schema (2020-12) of a config file. Editors that know it complete keys and mark mistakes.',
    )
    .addArgument(new Argument('[kind]', 'what it describes').choices(kinds).default('encoding'));
  withPlugins(withJson(command)).action(async (kind: string, options: { plugin: string[] }) => {
    const { registry } = await loadRegistry(options.plugin, io);
    io.stdout.write(toJson(schemas[kind]!(registry)));
  });
  withExamples(command, io, [
    ['posenc schema', 'encodings'],
    ['posenc schema model', 'the transformer around them'],
    ['posenc schema encoding --plugin ./mine.ts', 'with an encoding of your own'],
  ]);
};
