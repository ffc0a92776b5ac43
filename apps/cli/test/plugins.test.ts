/** Encodings of others: from a .ts file in any folder, and from packages. Plain Node.js, as users have it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { batch, folder, type Result, removeFolders } from './cli.ts';
import { mine, strange } from './examples.ts';

afterAll(removeFolders);

const named = (type: string) => mine.replace("'log-distance'", `'${type}'`);

const cwd = folder({
  'mine.ts': mine,
  'strange.ts': strange,
  'both.ts': `${mine}\nexport const other = { ...mine, type: 'other' };`,
  'default.mts': mine.replace('export const mine =', 'export default'),
  'taken.ts': named('rope'),
  'again.ts': mine,
  'algebra.ts': named('compose'),
  'future.ts': mine.replace('contract: 1', 'contract: 2'),
  'half.ts': `export const half = { contract: 1, type: 'a b', create: 3 };`,
  'none.ts': 'export const answer = 42;',
  'empty.ts': 'export {};',
  'syntax.ts': 'export const a = 1;\nconst b = ;\n',
  'syntax.mjs': 'export const a = 1;\nlet b c;\n',
  'enum.ts': 'enum A { B }\nexport const a = A.B;\n',
  'needs.ts': `import 'a-package-nobody-has';\n`,
  'throws.ts': `throw new Error('on purpose');\n`,
  'fails.ts': named('fails')
    .replace(
      'create: ({ strength }, { numHeads }) =>',
      `create: ({ strength }, { numHeads }) => {\n    if (numHeads === 4) throw new TypeError('four is too many');\n    return (`,
    )
    .replace(/\}\),\n\}\);\n$/, '})\n  );\n  },\n});\n'),
});
mkdirSync(join(cwd, 'folder.ts'));
const install = (name: string, files: Record<string, string>) => {
  mkdirSync(join(cwd, 'node_modules', name), { recursive: true });
  for (const [file, content] of Object.entries(files)) writeFileSync(join(cwd, 'node_modules', name, file), content);
};
install('posenc-packaged', {
  'package.json': '{"name":"posenc-packaged","version":"1.2.3","type":"module","exports":{"import":"./index.js"}}',
  'index.js': stripTypeScriptTypes(named('packaged')),
});
install('typed-only', {
  'package.json': '{"name":"typed-only","version":"1.0.0","type":"module","exports":"./index.ts"}',
  'index.ts': mine,
});

const lines = {
  alone: ['inspect', './mine.ts', '--json'],
  asDefault: ['inspect', 'default.mts', '--json'],
  drawn: ['inspect', './mine.ts', '--out', 'pictures'],
  strange: ['inspect', './strange.ts', '--json', '--out', 'odd'],
  bidirectional: ['inspect', './strange.ts', '--dims', 'causal=false'],
  configured: ['inspect', '{"type":"log-distance","strength":3}', '--plugin', './mine.ts', '--json'],
  misspelt: ['inspect', '{"type":"log-distance","strngth":3}', '--plugin', './mine.ts'],
  composed: [
    'inspect',
    '{"type":"compose","of":[{"type":"log-distance"},{"type":"packaged"}]}',
    '--plugin',
    './mine.ts',
    '--plugin',
    'posenc-packaged',
    '--json',
  ],
  packaged: ['inspect', 'posenc-packaged', '--json'],
  listed: ['list', '--plugin', './mine.ts', '--plugin', './mine.ts', '--json'],
  schema: ['schema', '--plugin', './mine.ts'],
  both: ['inspect', 'both.ts'],
  oneOfBoth: ['inspect', 'other', '--plugin', 'both.ts', '--json'],
  missing: ['inspect', './missing.ts'],
  aFolder: ['inspect', './folder.ts'],
  taken: ['inspect', 'rope', '--plugin', './taken.ts'],
  again: ['inspect', 'rope', '--plugin', './mine.ts', '--plugin', './again.ts'],
  algebra: ['inspect', './algebra.ts'],
  future: ['inspect', './future.ts'],
  half: ['inspect', './half.ts'],
  none: ['inspect', './none.ts'],
  empty: ['inspect', './empty.ts'],
  syntaxTs: ['inspect', './syntax.ts'],
  syntaxJs: ['inspect', './syntax.mjs'],
  enum: ['inspect', './enum.ts'],
  needs: ['inspect', './needs.ts'],
  throws: ['inspect', './throws.ts'],
  fails: ['inspect', './fails.ts'],
  unknown: ['inspect', 'alibbi'],
  unlike: ['inspect', 'qwertyuiop'],
  multiAxis: ['inspect', 'mrope'],
  multiAxisJson: ['inspect', '{"type":"mrope"}'],
  ofObjects: ['inspect', '{"type":"constructor"}'],
  noPackage: ['list', '--plugin', 'a-package-nobody-has'],
  typed: ['list', '--plugin', 'typed-only'],
} as const;

const results = batch(Object.values(lines), cwd);
const result = (name: keyof typeof lines): Result => results[Object.keys(lines).indexOf(name)]!;
const json = (name: keyof typeof lines) => {
  const { code, out, err } = result(name);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
};

describe('a plug-in works like a built-in encoding', () => {
  it('from a .ts file alone in a folder, measured', () => {
    const { config, measured } = json('alone');
    expect(config).toEqual({ type: 'log-distance', strength: 1 });
    const { offsets, data } = measured.groups[0].relativeBias;
    offsets.forEach((offset: number, i: number) => {
      expect(data[i]).toBeCloseTo(-Math.log(1 - offset), 5);
    });
    expect(json('asDefault').config.type).toBe('log-distance');
  });

  it('drawn, without a table of its own', () => {
    expect(result('drawn').out).toContain('Drawn: open pictures/index.html (2 SVG files beside it)');
  });

  it('inside JSON, with its own options, checked', () => {
    expect(json('configured').measured.groups[0].relativeBias.data[126]).toBeCloseTo(-3 * Math.log(2), 5);
    expect(result('misspelt')).toMatchObject({
      code: 1,
      err: expect.stringContaining('unknown key "strngth": did you mean "strength"?'),
    });
  });

  it('from a package, and together with a file', () => {
    expect(json('packaged').config.type).toBe('packaged');
    expect(json('composed').parts.map((p: { type: string }) => p.type)).toEqual(['log-distance', 'packaged']);
  });

  it('in the list, once however often it is named, and in the schema', () => {
    const types = json('listed').encodings.map((e: { type: string }) => e.type);
    expect(types.filter((type: string) => type === 'log-distance')).toHaveLength(1);
    expect(JSON.stringify(json('schema'))).toContain('"log-distance"');
  });

  it('one of several in a module, by its type', () => {
    expect(result('both')).toMatchObject({
      code: 1,
      err: expect.stringContaining('exports 2 encodings: say which one, for example --plugin both.ts log-distance'),
    });
    expect(json('oneOfBoth').config.type).toBe('other');
  });

  it('whatever holes it fills: layers apart, a rotation that keeps no length, a bias and a scale by position', () => {
    const { measured, holes, files } = json('strange');
    expect(holes).toEqual(['rotate', 'scale', 'bias']);
    const [even, odd] = measured.groups;
    expect([even.layers, odd.layers]).toEqual([
      [0, 2],
      [1, 3],
    ]);
    expect(even.rotation.pairs).toHaveLength(1);
    expect(even.rotation.pairs[0].channels).toEqual([0, 1]);
    expect(even.rotation.pairs[0].frequency).toBeCloseTo(0.25, 5);
    expect(even.rotation.still).toBe(30);
    expect(even.rotation.lengthError).toBeGreaterThan(0.9);
    expect(even.bias.data.slice(0, 3)).toEqual([0, 2, 4]);
    expect(odd.scale.data.slice(0, 3)).toEqual([1, 2, 3]);
    for (const name of ['rotation-matrix-layer-0', 'bias-positions-layer-0', 'scale-layer-1', 'unit-circle'])
      expect(files).toContain(join('odd', `${name}.svg`));
  });

  it('and is refused where it refuses to serve', () => {
    expect(result('bidirectional')).toMatchObject({
      code: 1,
      err: expect.stringContaining('"strange" needs a causal stack'),
    });
  });
});

const failures: readonly (readonly [keyof typeof lines, RegExp])[] = [
  ['missing', /cannot load "\.\/missing\.ts": no such file or folder; check the path/],
  ['aFolder', /\.\/folder\.ts is a folder; name the \.ts or \.js file/],
  ['taken', /\.\/taken\.ts: the type "rope" is taken by a built-in encoding: choose another name/],
  ['again', /\.\/again\.ts: the type "log-distance" is taken by \.\/mine\.ts/],
  ['algebra', /\.\/algebra\.ts: the type "compose" is taken/],
  [
    'future',
    /\.\/future\.ts, export "mine": it is written for contract 2, and this posenc speaks contract 1: update posenc/,
  ],
  [
    'half',
    /\.\/half\.ts, export "half" is not a complete encoding:\n {2}- type must be a name[\s\S]*- config must be a zod 4 schema[\s\S]*- create must be a function/,
  ],
  ['none', /\.\/none\.ts exports no encoding: its exports are answer\. Write: export const mine = defineEncoding/],
  ['empty', /\.\/empty\.ts exports no encoding: it has no exports/],
  ['syntaxTs', /cannot load \.\/syntax\.ts: SyntaxError: .*\n.*syntax\.ts:2\n.*\n {2}const b = ;\n +\^/],
  ['syntaxJs', /cannot load \.\/syntax\.mjs: SyntaxError: .*\n.*syntax\.mjs:2\n {2}let b c;\n +\^/],
  ['enum', /cannot load \.\/enum\.ts: SyntaxError: [\s\S]*no enum, namespace or parameter property/],
  ['needs', /cannot load \.\/needs\.ts: .*a-package-nobody-has[\s\S]*npm install/],
  ['throws', /cannot load \.\/throws\.ts: Error: on purpose\n {2}at .*throws\.ts:1:7/],
  ['fails', /the encoding "fails" from \.\/fails\.ts failed: TypeError: four is too many\n {2}at .*fails\.ts:\d+:\d+/],
  ['unknown', /no encoding is called "alibbi": did you mean "alibi"\?\n {2}known: sinusoidal, learned/],
  [
    'multiAxis',
    /no encoding is called "mrope": "mrope" gives every token several positions .*is not built\n {2}known:/,
  ],
  ['multiAxisJson', /no encoding is called "mrope": "mrope" gives every token several positions .*not built \(known:/],
  ['ofObjects', /no encoding is called "constructor": allowed: sinusoidal/],
  ['unlike', /no encoding is called "qwertyuiop"\n {2}known: .*\.json file/],
  ['noPackage', /no package called "a-package-nobody-has" is installed for .*: npm install a-package-nobody-has/],
  ['typed', /cannot load the package typed-only: [\s\S]*the package must ship JavaScript/],
];

describe('a plug-in that cannot be used: what, where, what to do', () => {
  it.each(failures)('%s', (name, message) => {
    const { code, out, err } = result(name);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(message);
    expect(err).toMatch(/^error: /);
  });
});
