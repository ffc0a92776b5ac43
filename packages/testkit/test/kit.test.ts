import { useBackend } from '@posenc/backend';
import { type Law, LawError, lawsFor, lawsForEncoding, tolerances } from '@posenc/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadEdited } from '../mutants/load.ts';
import { forgetting, growing, nearAndFar, nearness, ratio, temperature } from './small.ts';

beforeAll(async () => {
  await useBackend('cpu');
});

const options = { length: 40, shortLength: 20 };

describe('encodings for holes that no package fills yet obey all laws', () => {
  for (const plugin of [temperature, ratio, nearAndFar, forgetting, nearness])
    for (const law of lawsFor(plugin, [{}], options)) it(law.name, law.run);
  for (const law of lawsFor(growing, [{}, { stretched: true }], options)) it(law.name, law.run);
});

const failing = async (laws: readonly Law[], name: string): Promise<LawError> => {
  const error = await laws
    .find(({ law }) => law === name)!
    .run()
    .then(
      () => undefined,
      (reason: unknown) => reason,
    );
  expect(error).toBeInstanceOf(LawError);
  return error as LawError;
};

describe('the kit', () => {
  it('says law, config, what was compared, the deviation, the tolerance and where to look', async () => {
    const { message, violation } = await failing(
      lawsFor(
        { ...temperature, create: (...args) => ({ ...temperature.create(...args), traits: shifting(args) }) },
        [{}],
        options,
      ),
      'shift invariance',
    );
    expect(message).toBe(
      `shift invariance does not hold for temperature {}\n` +
        `  compared: ${violation.compared}\n  found: ${violation.found}\n  look for: ${violation.hint}`,
    );
    expect(violation.compared).toMatch(
      /^logits at positions 3 … 42 with those at 0 … 39 \(causal, 2 layers, 3 heads\)$/,
    );
    expect(violation.found).toMatch(
      /^largest deviation \d\.\de[+-]\d at row \d, token \d+; tolerance 2\.0e-5 \(cpu\)$/,
    );
  });

  it('lets no encoding pass that does nothing', async () => {
    const idle = { ...temperature.create({}, dims), hooks: () => () => ({ embed: (x: never) => x }) };
    const laws = lawsForEncoding({ name: 'idle', create: () => idle }, options);
    for (const law of ['shift invariance', 'cached decoding', 'batching', 'effect'])
      expect((await failing(laws, law)).message).toMatch('they differ by 0.0e+0 at most');
  });

  it('wraps errors of an encoding, and keeps their stack', async () => {
    const broken = {
      ...temperature.create({}, dims),
      hooks: () => () => {
        throw new TypeError('a mistake in a hook');
      },
    };
    const error = await failing(lawsForEncoding({ name: 'broken', create: () => broken }, options), 'packing');
    expect(error.violation.found).toBe('an error, TypeError: a mistake in a hook');
    expect(error.cause).toBeInstanceOf(TypeError);
  });

  it('refuses an empty list of configs, and a config that does not parse', () => {
    expect(() => lawsFor(temperature, [])).toThrow('lawsFor needs at least one config');
    expect(() => lawsFor(temperature, [{ heat: 1 }])).toThrow('unknown key "heat"');
  });

  it('has the tolerances of the house, and none for a backend not named there', async () => {
    expect(tolerances).toEqual({
      logits: { cpu: 2e-5, wasm: 1e-4, simd: 1e-4, tensorflow: 1e-4, 'tensorflow-gpu': 1e-3, webgpu: 1e-3 },
      gradient: 1e-2,
      table: 1e-12,
    });
    const agreement = lawsFor(temperature, [{}], { ...options, backends: ['cpu', 'simd'] });
    expect(agreement.map(({ law }) => law)).toContain('backend agreement');
    expect(lawsFor(temperature, [{}], { backends: ['cpu'] }).map(({ law }) => law)).not.toContain('backend agreement');
  });

  it('names no encoding in any law', async () => {
    const laws = lawsFor(await loadEdited('nope'), [{}], { backends: ['cpu', 'simd'] });
    for (const { law, statement } of laws)
      expect(`${law} ${statement}`).not.toMatch(/nope|sinusoidal|learned|alibi|rope|t5/i);
  });
});

const dims = {
  modelDim: 20,
  embeddingDim: 20,
  numLayers: 2,
  numHeads: 3,
  numKvHeads: 3,
  headDim: 8,
  causal: true,
} as const;

const shifting = (args: Parameters<typeof temperature.create>) => ({
  ...temperature.create(...args).traits,
  shiftInvariant: true,
});
