/** A suite in JSON: encodings × seeds on one task and one budget. */
import { totalmem } from 'node:os';
import { resolve } from 'node:path';
import { brief, countParams, PosencError, parseConfig, suggest, type Transformer, z } from '@posenc/core';
import type { Task } from '@posenc/tasks';
import { evaluationSchema, type TrainingConfig, trainingChanges, trainingSchema } from './config.ts';
import { fixedTargets } from './evaluate.ts';
import { type Environment, overridden, type TrialSpec, trialModel } from './spec.ts';

type Part = 'encoding' | 'model' | 'task';
const parts = new WeakMap<object, Part>();

/** Documents inside a suite that others describe and check: the registries of encodings and tasks, and core's model schema. */
function part<T extends z.ZodType>(name: Part, schema: T): T {
  parts.set(schema, name);
  return schema;
}

/** Which of them a schema stands for, if any: JSON Schema of a suite refers to theirs. */
export const documentOf = (schema: object): Part | undefined => parts.get(schema);

/** A bare type in the place of an object is told what to write. */
const insteadOf = (object: (type: string) => object) => ({
  error: ({ code, input }: { readonly code: string; readonly input?: unknown }) =>
    code === 'invalid_type' && typeof input === 'string'
      ? `write ${brief(JSON.stringify(object(input)))}, for this is an object`
      : undefined,
});

const typed = z.looseObject(
  { type: z.string() },
  insteadOf((type) => ({ type })),
);
const encodingConfig = part('encoding', typed.describe('an encoding config'));
const modelConfig = part('model', z.looseObject({}).describe('the shared transformer; vocabSize comes from the task'));
const taskConfig = part('task', typed.describe('a task config; files are relative to the suite'));

/** What tables and reports print: one line. */
const label = z
  .string()
  .min(1)
  .regex(/^\P{Cc}+$/u, 'no control characters or line breaks');

const entrySchema = z.strictObject(
  {
    name: label.optional().describe('shown in tables; default: the type'),
    encoding: encodingConfig,
    model: modelConfig.optional(),
    training: trainingChanges.optional().describe('training keys that differ for this entry'),
    evaluate: z
      .array(z.strictObject({ name: label, encoding: encodingConfig }))
      .default([])
      .describe(
        'other configs for the trained weights at evaluation; "auto" stands for k at k times the training length',
      ),
  },
  insteadOf((type) => ({ encoding: { type } })),
);

/** The JSON of a suite, checked but for the documents inside it, which registries check. */
export const suiteSchema = z.strictObject({
  $schema: z.string().optional(),
  name: z
    .string()
    .regex(/^\w[\w.-]*$/, 'letters, digits, "-", "_" and "." only, a letter or digit first')
    .describe('also the default run folder'),
  description: z.string().optional(),
  task: taskConfig,
  model: modelConfig,
  training: trainingSchema,
  evaluation: evaluationSchema.default(evaluationSchema.parse({})),
  seeds: z.array(z.int().min(0)).min(1).default([1]),
  encodings: z.array(entrySchema).min(1),
  baseline: z.string().optional().describe('name of the entry others are compared with; default: the first'),
});

/** A suite, defaults filled in. */
export type Suite = z.output<typeof suiteSchema>;

/** Checks a suite's JSON; file paths of its task, relative to `folder`, become absolute. Throws PosencError naming `where`. */
export function parseSuite(value: unknown, where: string, folder: string): Suite {
  const suite = parseConfig(suiteSchema, value, where);
  const names = suite.encodings.map(nameOf);
  const all = suite.encodings.flatMap((entry) => [nameOf(entry), ...entry.evaluate.map((e) => e.name)]);
  const twice = all.find((name, i) => all.indexOf(name) !== i);
  if (twice) throw new PosencError(`${where}: two entries are called "${brief(twice)}": give each its own "name"`);
  if (suite.baseline !== undefined && !names.includes(suite.baseline))
    throw new PosencError(
      `${where}: the baseline "${brief(suite.baseline)}" is no entry of "encodings": ${suggest(suite.baseline, names)}`,
    );
  if (new Set(suite.seeds).size < suite.seeds.length) throw new PosencError(`${where}: "seeds" names a seed twice`);
  const { multiples } = suite.evaluation;
  if (new Set(multiples).size < multiples.length)
    throw new PosencError(`${where}: "evaluation.multiples" names a multiple twice`);
  const { file } = suite.task as { file?: unknown };
  return typeof file === 'string' ? { ...suite, task: { ...suite.task, file: resolve(folder, file) } } : suite;
}

/** What an entry is called in tables: its name, else its encoding’s type. */
export const nameOf = (entry: Suite['encodings'][number]): string => entry.name ?? entry.encoding.type;

/** A single training run in JSON: what a suite would say with one encoding and one seed. */
export const runSchema = z.strictObject({
  ...suiteSchema.omit({ seeds: true, encodings: true, baseline: true }).shape,
  name: suiteSchema.shape.name.optional(),
  encoding: encodingConfig,
  evaluate: entrySchema.shape.evaluate,
  seed: z.int().min(0).default(1),
});

/** A training run as a suite of one trial. */
export function parseRun(value: unknown, where: string, folder: string): Suite {
  const { encoding, evaluate, seed, name, ...rest } = parseConfig(runSchema, value, where);
  return parseSuite(
    { ...rest, name: name ?? 'run', seeds: [seed], encodings: [{ encoding, evaluate }] },
    where,
    folder,
  );
}

/** Every trial of a suite, seeds outermost, so that the first results are comparable. Throws PosencError for what cannot run. */
export function trialsOf(suite: Suite, task: Task, environment: Environment): TrialSpec[] {
  for (const multiple of suite.evaluation.multiples)
    fixedTargets(task, suite.training.length, multiple, suite.evaluation);
  return suite.seeds.flatMap((seed) =>
    suite.encodings.map((entry): TrialSpec => {
      const name = nameOf(entry);
      const spec: TrialSpec = {
        name,
        seed,
        encoding: environment.encodings.parse(entry.encoding, `encoding of "${brief(name)}"`),
        model: { ...suite.model, ...entry.model },
        task: suite.task,
        training: { ...suite.training, ...entry.training },
        evaluation: suite.evaluation,
        overrides: entry.evaluate,
      };
      refuseOtherVocabulary(name, spec.model, task);
      const model = trialModel(spec, task, environment);
      refuseBeyondMemory(name, model, spec.training);
      if (spec.training.length > model.encoding.traits.maxPosition)
        throw new PosencError(
          `"${name}": training length ${spec.training.length} is beyond this encoding, which ends at position ${model.encoding.traits.maxPosition - 1}`,
        );
      for (const override of spec.overrides)
        for (const multiple of spec.evaluation.multiples)
          overridden(spec, task, environment, override.name, override.encoding, multiple);
      return spec;
    }),
  );
}

/** The task decides how many tokens there are; a number that says otherwise was meant for another task. */
function refuseOtherVocabulary(name: string, { vocabSize }: { vocabSize?: unknown }, task: Task): void {
  const { length } = task.tokenizer.vocabulary;
  if (vocabSize !== undefined && vocabSize !== length)
    throw new PosencError(
      `model of "${name}": "vocabSize" is ${brief(JSON.stringify(vocabSize))}, and this task has ${length} tokens: leave it out, the task decides`,
    );
}

/**
 * What training surely needs: weights, gradients and two moments, and the logits of a batch with their gradient, 4 bytes each.
 * A slip of three zeros is told before it takes the machine down.
 */
function refuseBeyondMemory(name: string, { params, config }: Transformer, training: TrainingConfig): void {
  const bytes = 16 * countParams(params) + 8 * training.batchSize * training.length * config.vocabSize;
  if (bytes <= totalmem()) return;
  const gib = (n: number) => `${(n / 2 ** 30).toFixed(0)} GiB`;
  throw new PosencError(
    `"${name}" needs at least ${gib(bytes)} of memory (${countParams(params)} parameters, ${training.batchSize} × ${training.length} tokens a batch), and this machine has ${gib(totalmem())}: use a smaller model, batchSize or length`,
  );
}
