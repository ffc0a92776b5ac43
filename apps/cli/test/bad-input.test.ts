/** Every mistake: one message that says what, where, what is allowed or what to do; nothing on standard output; the right exit code. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli, folder, removeFolders } from './cli.ts';

afterAll(removeFolders);

let cwd: string;
beforeAll(() => {
  cwd = folder({
    'comma.json': '{"type": "rope",\n  "base": 10,\n}',
    'comment.json': '// RoPE\n{"type": "rope"}',
    'empty.json': ' \n',
    'open.json': '{"type": "rope"',
    'quotes.json': "{'type': 'rope'}",
    'two.json': '{"type": "rope"} {"type": "nope"}',
    'twice.json': '{"type": "rope",\n "base": 1, "base": 2}',
    'infinite.json': '{"type": "rope", "base": 1e999}',
    'utf16.json': Buffer.from('\ufeff{"type":"rope"}', 'utf16le'),
    'latin1.json': Buffer.from('{"type":"é"}', 'latin1'),
    'bom.json': '\ufeff{"type":"rope"}',
    file: 'text',
  });
  mkdirSync(join(cwd, 'folder.json'));
});

const mistakes: readonly (readonly [what: string, argv: string[], message: RegExp])[] = [
  ['no such file', ['none.json'], /^error: cannot read "none\.json": no such file or folder; check the path$/],
  ['a folder', ['folder.json'], /cannot read "folder\.json": it is a folder, and a file was expected/],
  ['an empty file', ['empty.json'], /empty\.json is empty: expected a JSON object such as \{"type": "rope"\}/],
  ['a trailing comma', ['comma.json'], /comma\.json:3:1: expected a key in double quotes .*\n {2}3 \| \}\n {4}\| \^/],
  ['a comment', ['comment.json'], /comment\.json:1:1: JSON allows no comments; remove this one\n {2}1 \| \/\/ RoPE/],
  ['an object that does not end', ['open.json'], /open\.json:1:16: expected \} to close the object/],
  ['single quotes', ['quotes.json'], /quotes\.json:1:2: .*double quotes/],
  ['two values', ['two.json'], /two\.json:1:18: .*one JSON value is allowed/],
  ['a key given twice', ['twice.json'], /twice\.json:2:13: the key "base" is given twice in one object/],
  ['a number beyond all numbers', ['infinite.json'], /infinite\.json:1:26: 1e999 is too large for a number/],
  ['UTF-16', ['utf16.json'], /utf16\.json is UTF-16 text; save it as UTF-8/],
  ['Latin-1', ['latin1.json'], /latin1\.json is not UTF-8 text/],
  ['inline JSON that is none', ['{"type" "rope"}'], /CONFIG:1:9: expected a colon after the key/],
  ['a list', ['[1]'], /CONFIG: .*expected object, received array/],
  ['no type', ['{}'], /CONFIG: "type" is missing: expected the name of an encoding/],
  ['nothing', [''], /the encoding is empty: give one of sinusoidal, .*, JSON, or a file/],
  ['an unknown type', ['{"type":"rop"}'], /no encoding is called "rop": did you mean "rope"\?/],
  ['a sentence', ['rope with ntk'], /no encoding is called "rope with ntk"/],
  [
    'a misspelt key',
    ['{"type":"rope","pairng":"half"}'],
    /CONFIG \(rope\): unknown key "pairng": did you mean "pairing"\?/,
  ],
  [
    'a misspelt key further in',
    ['{"type":"rope","scaling":{"type":"ntk","facter":2}}'],
    /unknown key "facter" in "scaling": did you mean "factor"\?/,
  ],
  [
    'an unknown scaling',
    ['{"type":"rope","scaling":{"type":"yarm"}}'],
    /"scaling\.type" is "yarm": no such scaling; known: "default"/,
  ],
  ['a wrong kind of value', ['{"type":"rope","base":"10"}'], /"base" is "10": expected number, received string/],
  ['a huge whole number', ['{"type":"learned","numPositions":1e300}'], /"numPositions" is 1e\+300: Too big/],
  [
    'more than memory holds',
    ['{"type":"learned","numPositions":1e12}'],
    /128,000,000,000,000 parameters, more than inspect looks at/,
  ],
  ['an odd rotary width', ['rope', '--dims', 'headDim=15'], /rope: the rotary width .* is 15, .* must be even/],
  [
    'heads that do not divide',
    ['rope', '--dims', 'modelDim=130'],
    /--dims: modelDim 130 is not divisible by numHeads 4: change one of them, or set headDim/,
  ],
  [
    'key/value heads that do not divide',
    ['rope', '--dims', 'numKvHeads=3'],
    /--dims: numHeads 4 is not a multiple of numKvHeads 3/,
  ],
  ['zero layers', ['rope', '--dims', 'layers=0'], /--dims: "numLayers" is 0: Too small/],
  ['huge sizes', ['rope', '--dims', 'modelDim=1e30'], /--dims:[\s\S]*"modelDim" is 1e\+30: Too big/],
  [
    'a misspelt size',
    ['rope', '--dims', 'modeldim=64'],
    /--dims: no size is called "modeldim": did you mean "modelDim"\?/,
  ],
  [
    'a size without a number',
    ['rope', '--dims', 'modelDim=wide'],
    /--dims: modelDim is "wide"; it must be a whole number/,
  ],
  ['a size given twice', ['rope', '--dims', 'heads=2,numHeads=4'], /--dims: numHeads is given twice/],
  ['sizes that are none', ['rope', '--dims', '64'], /--dims: "64" is not name=value/],
  [
    'causal neither true nor false',
    ['rope', '--dims', 'causal=maybe'],
    /--dims: causal is "maybe"; it must be true or false/,
  ],
  [
    'a member that is unknown',
    ['{"type":"compose","of":[{"type":"rope"},{"type":"ropee"}]}'],
    /CONFIG\.of\[1\]: no encoding is called "ropee"/,
  ],
  [
    'a member that cannot be per layer',
    ['{"type":"perLayer","of":[{"type":"learned"}],"pattern":[0]}'],
    /perLayer: member 0 adds vectors to the embeddings, .* use "compose"/,
  ],
  [
    'a pattern out of range',
    ['{"type":"perLayer","of":[{"type":"rope"}],"pattern":[1]}'],
    /perLayer: pattern \[1\] .* member indices 0 to 0/,
  ],
  ['a file as folder', ['rope', '--out', 'file'], /cannot draw into "file": something of that name is in the way/],
  [
    'a folder in a file',
    ['rope', '--out', 'file/pictures'],
    /cannot draw into "file\/pictures": something of that name is in the way/,
  ],
  ['no such plug-in', ['rope', '--plugin', './none.ts'], /cannot load "\.\/none\.ts": no such file or folder/],
  ['a part of Node.js as plug-in', ['rope', '--plugin', 'fs'], /"fs" is a part of Node\.js, not an encoding/],
];

describe('a mistake in what is given: exit code 1', () => {
  it.each(mistakes)('%s', async (_, argv, message) => {
    const { code, out, err } = await cli(['inspect', ...argv], { cwd });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err.trimEnd()).toMatch(message);
    expect(err).toMatch(/^error: /);
    expect(err).not.toMatch(/^ +at /m);
  });

  it('is the same in every command that reads encodings', async () => {
    for (const argv of [
      ['list', '--plugin', './none.ts'],
      ['schema', '--plugin', './none.ts'],
      ['list', '--dims', 'layers=0'],
    ])
      expect(await cli(argv, { cwd })).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^error: /) });
  });

  it('a byte order mark is none', async () => {
    expect((await cli(['inspect', 'bom.json'], { cwd })).code).toBe(0);
  });
});

const usage: readonly (readonly [what: string, argv: string[], message: RegExp])[] = [
  ['an unknown command', ['inspct', 'rope'], /unknown command 'inspct'\n\(Did you mean inspect\?\)/],
  [
    'an unknown option',
    ['inspect', 'rope', '--position', '3'],
    /unknown option '--position'\n\(Did you mean --positions\?\)/,
  ],
  ['a missing argument', ['inspect'], /missing required argument 'config'/],
  ['an argument too many', ['inspect', 'rope', 'alibi'], /too many arguments for 'inspect'/],
  ['a missing value', ['inspect', 'rope', '--out'], /option '--out <folder>' argument missing/],
  ['no position', ['inspect', 'rope', '--positions', '0'], /must be a whole number from 2 to 8192/],
  ['too many positions', ['inspect', 'rope', '--positions', '1e9'], /must be a whole number from 2 to 8192/],
  ['an unknown kind of schema', ['schema', 'encodng'], /Allowed choices are encoding, model/],
];

describe('a wrong command line: exit code 2', () => {
  it.each(usage)('%s', async (_, argv, message) => {
    const { code, out, err } = await cli(argv, { cwd });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(message);
    expect(err).toContain('Add --help to see what is allowed.');
  });
});

describe('a defect of ours: exit code 70', () => {
  it('is told with its stack and what a report needs', async () => {
    const stdin = new Readable({ read: () => stdin.destroy(new Error('something unheard of')) });
    const { code, out, err } = await cli(['inspect', '-', '--dims', 'heads=2'], { stdin });
    expect({ code, out }).toEqual({ code: 70, out: '' });
    expect(err).toContain('Please report it');
    expect(err).toContain('arguments: ["inspect","-","--dims","heads=2"]');
    expect(err).toContain(`Node.js ${process.version}`);
    expect(err).toMatch(/^ {2}Error: something unheard of\n {6}at /m);
  });
});
