/** A set of tasks known by name: parses JSON configs and creates tasks. Nothing registers itself. */
import { brief, PosencError, parseConfig, suggest, z } from '@posenc/core';
import type { Task, TaskContext, TaskPlugin } from './task.ts';

type ConfigOf<P> = P extends TaskPlugin<infer Type, infer Config> ? { readonly type: Type } & Config : never;

/** Tasks by type. */
export interface TaskRegistry<P extends TaskPlugin = TaskPlugin> {
  readonly plugins: readonly P[];
  /** Checks a JSON value and fills in defaults. Throws PosencError naming `where`. */
  parse(value: unknown, where?: string): ConfigOf<P>;
  /** Checks a JSON value and creates the task; without a context relative paths start at the working directory. Throws PosencError. */
  create(value: unknown, context?: TaskContext, where?: string): Task;
  /** JSON Schema (2020-12) of all configs. */
  jsonSchema(): Record<string, unknown>;
}

const node = z.looseObject({ type: z.string({ error: 'expected the name of a task' }) });

/** Puts tasks together. Throws PosencError when two have the same type. */
export function createTaskRegistry<const P extends TaskPlugin>(plugins: readonly P[]): TaskRegistry<P> {
  const names = plugins.map((p) => p.type);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice) throw new PosencError(`two tasks are called "${twice}": each type must be unique in a registry`);

  function check(value: unknown, where: string): { plugin: P; config: object } {
    const { type, ...rest } = parseConfig(node, value, where);
    const plugin = plugins.find((p) => p.type === type);
    if (!plugin)
      throw new PosencError(
        `${where}: no task is called "${brief(type)}": ${suggest(type, names)} (known: ${names.join(', ')})`,
      );
    return { plugin, config: parseConfig(plugin.config, rest, `${where} (${type})`) };
  }

  return {
    plugins,
    parse(value, where = 'task') {
      const { plugin, config } = check(value, where);
      return { type: plugin.type, ...config } as ConfigOf<P>;
    },
    create(value, context = { resolve: (path) => path }, where = 'task') {
      const { plugin, config } = check(value, where);
      return plugin.create(config, context);
    },
    jsonSchema() {
      return {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        oneOf: plugins.map(({ type, description, config }) => {
          const schema = z.toJSONSchema(config, { io: 'input' }) as { properties?: object; required?: string[] };
          const { $schema: _, properties, required = [], ...body } = schema as typeof schema & { $schema?: string };
          return {
            ...body,
            description,
            properties: { type: { const: type }, ...properties },
            required: ['type', ...required],
          };
        }),
      };
    },
  };
}
