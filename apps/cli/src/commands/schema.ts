/** `posenc schema`: JSON Schema of what posenc reads, and of what bench writes, for editors and programs. */
import { modelSchema, type Registry, z } from '@posenc/core';
import { builtInTasks, createTaskRegistry } from '@posenc/tasks';
import { documentOf, runSchema, suiteSchema } from '@posenc/training';
import { Argument } from 'commander';
import { benchSchema } from '../bench/document.ts';
import { loadRegistry } from '../config/encoding.ts';
import { toJson } from '../ui/json.ts';
import { type AddCommand, withExamples, withJson, withPlugins } from './common.ts';

/** Every kind of document by name. A new kind is one line here. */
const schemas: Readonly<Record<string, (registry: Registry) => unknown>> = {
  encoding: (registry) => registry.jsonSchema(),
  model: () => z.toJSONSchema(modelSchema, { io: 'input' }),
  suite: (registry) => withParts(suiteSchema, registry),
  run: (registry) => withParts(runSchema, registry),
  bench: () => z.toJSONSchema(benchSchema),
};

/** A schema with the documents inside it (encoding, model, task) spelled out in `$defs`. */
function withParts(schema: z.ZodType, registry: Registry): unknown {
  const whole = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const part = documentOf(zodSchema);
      if (!part) return;
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema];
      jsonSchema.$ref = `#/$defs/${part}`;
    },
  });
  const bare = ({ $schema: _, ...rest }: Record<string, unknown>) => rest;
  const { $defs } = registry.jsonSchema() as { $defs: object };
  const model = z.toJSONSchema(modelSchema.omit({ vocabSize: true }).partial(), { io: 'input' });
  const task = createTaskRegistry(builtInTasks).jsonSchema();
  return { ...whole, $defs: { ...$defs, model: bare(model as Record<string, unknown>), task: bare(task) } };
}

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
    ['posenc schema suite', 'what posenc compare reads'],
    ['posenc schema encoding --plugin ./mine.ts', 'with an encoding of your own'],
  ]);
};
