/** All laws, and the two ways to get them: for a plug-in with its configs, or for anything that creates an encoding. */
import { type AnyEncoding, PosencError, parseConfig } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { createCase, type LawSpec } from './case.ts';
import { type Law, LawError, type LawOptions, type Settings, type Subject, settingsOf } from './law.ts';
import { agreement } from './laws/backends.ts';
import { type Configured, configLaw, distinctConfigs, independence } from './laws/config.ts';
import { cachedDecoding, laterTokens } from './laws/decode.ts';
import { effect } from './laws/effect.ts';
import { farPositions } from './laws/far.ts';
import { gradients, reach } from './laws/gradients.ts';
import { groupedHeads, headPermutation } from './laws/heads.ts';
import { offsets, shapes } from './laws/hooks.ts';
import { noLeaks } from './laws/memory.ts';
import { maxPositionLaw, positionSensitivity, sequenceLength, stackKind, tokenOrder } from './laws/positions.ts';
import { batching, packing, padding } from './laws/rows.ts';
import { determinism } from './laws/seeds.ts';
import { shiftInvariance } from './laws/shift.ts';
import { tables } from './laws/tables.ts';

/** Every law that a created encoding must obey, but the agreement of backends. */
const specs: readonly LawSpec[] = [
  effect,
  shapes,
  shiftInvariance,
  positionSensitivity,
  sequenceLength,
  maxPositionLaw,
  farPositions,
  stackKind,
  tokenOrder,
  laterTokens,
  cachedDecoding,
  padding,
  packing,
  batching,
  headPermutation,
  groupedHeads,
  offsets,
  gradients,
  reach,
  determinism,
  noLeaks,
  tables,
];

/**
 * The laws for anything that creates an encoding: a plug-in's config, a node of the algebra, a function of your own.
 *
 *     for (const law of lawsForEncoding({ name: 'mine', create: (dims) => … })) it(law.name, law.run);
 */
export function lawsForEncoding(subject: Subject, options?: LawOptions): Law[] {
  const settings = settingsOf(options);
  const agreeing = settings.backends.length > 1 ? [agreement] : [];
  return [...specs, ...agreeing].map((spec) => bind(spec, subject, settings));
}

/**
 * The laws for a plug-in: those of `lawsForEncoding` for each config, those of the configs themselves, and those between
 * them. Give configs that differ in every option the plug-in has: the laws find options that are never read.
 *
 *     for (const law of lawsFor(rope, [{}, { base: 500 }])) it(law.name, law.run);
 *
 * Throws PosencError when a config does not parse, or there is none.
 */
export function lawsFor(plugin: AnyEncoding, configs: readonly object[], options?: LawOptions): Law[] {
  const settings = settingsOf(options);
  if (configs.length === 0)
    throw new PosencError('lawsFor needs at least one config to check laws for: [{}] is the one of defaults only');
  const configured = configs.map((given): Configured & { subject: Subject } => {
    const parsed = parseConfig<object>(plugin.config, given, `${plugin.type} config`);
    const subject: Subject = {
      name: `${plugin.type} ${JSON.stringify(given)}`,
      create: (dims) => plugin.create(parsed, dims),
      ...(plugin.tables && { tables: (dims) => plugin.tables!(parsed, dims) }),
    };
    return { given, parsed, subject };
  });
  const all: Subject = { name: plugin.type, create: (dims) => plugin.create(configured[0]!.parsed, dims) };
  return [
    // First, while no cache that an encoding might keep has been filled by another law.
    bind(independence(plugin, configured), all, settings),
    bind(distinctConfigs(plugin, configured), all, settings),
    ...configured.flatMap(({ given, subject }) => [
      bind(configLaw(plugin, given), subject, settings),
      ...lawsForEncoding(subject, options),
    ]),
  ];
}

function bind({ law, statement, check }: LawSpec, subject: Subject, settings: Settings): Law {
  return {
    name: `${law}: ${subject.name}`,
    law,
    subject: subject.name,
    statement,
    async run() {
      await tf.ready();
      try {
        await check(createCase(law, subject, settings));
      } catch (error) {
        if (error instanceof LawError) throw error;
        const { name, message } = error as Error;
        const hint =
          'shapes that only fit one stack, or an input refused that should be served; the cause has the stack trace';
        const found = `an error, ${name}: ${message}`;
        throw new LawError({ law, subject: subject.name, compared: statement, found, hint }, { cause: error });
      }
    },
  };
}
