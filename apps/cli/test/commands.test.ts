/** list, schema, doctor, version, help. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { z } from '@posenc/core';
import { describe, expect, it } from 'vitest';
import { builtIn } from '../src/encodings.ts';
import { cli, words } from './cli.ts';

async function json(...argv: string[]) {
  const { code, out, err } = await cli([...argv, '--json']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

describe('list', () => {
  it('what each encoding fills in the formula of attention', async () => {
    const { encodings, algebra } = await json('list');
    const listed = encodings as { type: string; holes: string[]; reference: string }[];
    const rows = listed.slice(0, builtIn.length); // after them, in a clone, packages that posenc does not bring
    expect(Object.fromEntries(rows.map((e) => [e.type, e.holes]))).toEqual({
      sinusoidal: ['embed'],
      learned: ['embed'],
      t5: ['relativeBias'],
      alibi: ['relativeBias'],
      kerple: ['relativeBias'],
      sandwich: ['relativeBias'],
      fire: ['bias'],
      rope: ['rotate'],
      nope: [],
      shaw: ['bias', 'mix'],
      'transformer-xl': ['bias'],
      deberta: ['scale', 'bias'],
      cope: ['bias'],
      fox: ['carry', 'bias'],
      xpos: ['rotate'],
      'attention-temperature': ['scale'],
    });
    for (const { reference } of rows) expect(reference).toMatch(/\d{4}.*https:\/\//);
    expect(algebra.map((node: { type: string }) => node.type)).toEqual(['compose', 'perLayer']);
  });

  it('counts parameters for the stack that is given', async () => {
    const { encodings } = await json('list', '--dims', 'modelDim=768,numHeads=12,numLayers=12');
    const count = (type: string) => encodings.find((e: { type: string }) => e.type === type).parameters;
    expect(count('learned')).toBe(1024 * 768); // GPT-2's wpe
    expect(count('t5')).toBe(32 * 12);
    expect([count('sinusoidal'), count('alibi'), count('rope'), count('nope')]).toEqual([0, 0, 0, 0]);
  });

  it('says why an encoding cannot serve a stack, and lists the others', async () => {
    const { code, out } = await cli(['list', '--dims', 'headDim=3']);
    expect(code).toBe(0);
    expect(out).toMatch(/^rope +rope: the rotary width .* must be even/m);
    expect(out).toMatch(/^alibi +relativeBias/m);
  });

  it('examples of the algebra are configs', async () => {
    const { algebra } = await json('list');
    for (const { example } of algebra) expect((await cli(['inspect', JSON.stringify(example)])).code).toBe(0);
  });
});

describe('schema', () => {
  it('encodings: JSON Schema 2020-12 that takes what inspect takes and refuses what it refuses', async () => {
    const schema = await json('schema');
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    // zod reads JSON Schema back: what it then accepts is what an editor would accept.
    const read = z.fromJSONSchema({ ...schema.$defs.encoding, $defs: schema.$defs });
    for (const { type } of builtIn) expect(read.safeParse({ type }).success, type).toBe(true);
    expect(read.safeParse({ type: 'compose', of: [{ type: 'rope', base: 500 }, { type: 'alibi' }] }).success).toBe(
      true,
    );
    for (const wrong of [{ type: 'ropee' }, { type: 'rope', bse: 1 }, { type: 'rope', base: '1' }, {}, 3])
      expect(read.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false);
  });

  it('every option of an encoding says what it means', async () => {
    const { $defs } = await json('schema', 'encoding');
    for (const { properties } of $defs.encoding.oneOf)
      for (const [name, option] of Object.entries(properties as Record<string, { description?: string }>))
        if (!['type', 'of'].includes(name)) expect(option.description, `${properties.type.const}.${name}`).toBeTruthy();
  });

  it('the model', async () => {
    const schema = await json('schema', 'model');
    expect(schema.properties.modelDim.type).toBe('integer');
    expect(schema.required).toEqual(expect.arrayContaining(['vocabSize', 'modelDim', 'numLayers', 'numHeads']));
  });
});

describe('doctor', () => {
  it('what is here, what is missing, and the command that gets it', async () => {
    const report = await json('doctor');
    expect(report).toMatchObject({ node: process.versions.node, cores: availableParallelism(), auto: 'simd' });
    expect(report.memory.totalBytes).toBeGreaterThan(report.memory.freeBytes);
    const of = (name: string) => report.backends.find((b: { name: string }) => b.name === name);
    expect(of('cpu').available && of('simd').available && of('wasm').available).toBe(true);
    for (const backend of report.backends) if (!backend.available) expect(backend.reason, backend.name).toBeTruthy();
    const { out } = await cli(['doctor']);
    expect(out).toMatch(/✓ simd \(auto\) +WebAssembly/);
    expect((await cli(['help', 'doctor'])).out).toMatch(/\$ posenc doctor\n.*\n {2}\$ posenc doctor --json\n/); // both run here
    for (const { command } of report.backends) if (command) expect(out).toContain(`to get it: ${command}`);
  });
});

describe('version and help', () => {
  it('version is that of the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    expect(await cli(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });

  it('no arguments: help on standard error, and a usage error', async () => {
    const { code, out, err } = await cli([]);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('Usage: posenc');
  });

  it('every command is in the help, and has help with examples', async () => {
    const { code, out } = await cli(['--help']);
    expect(code).toBe(0);
    const commands = [...out.matchAll(/^ {2}([a-z]+)\b.* {2,}\S/gm)]
      .map(([, name]) => name!)
      .filter((name) => name !== 'help');
    expect(commands).toEqual(expect.arrayContaining(['inspect', 'list', 'doctor', 'schema']));
    for (const command of commands) {
      const help = await cli([command, '--help']);
      expect(help.code).toBe(0);
      expect(help.out, command).toContain('Examples:\n');
      expect(await cli(['help', command])).toEqual(help);
    }
  });

  it('lines of examples are read as a shell reads them', () => {
    expect(words(`posenc inspect '{"type": "rope"}' --out "a b" c`)).toEqual([
      'posenc',
      'inspect',
      '{"type": "rope"}',
      '--out',
      'a b',
      'c',
    ]);
  });
});
