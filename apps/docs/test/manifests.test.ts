/** What npm is told about every package: the same things in the same words, and nothing that is not so. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allPackages, publicPackages, root } from '../src/packages.ts';

const all = allPackages();
const published = publicPackages().map((one) => [one.manifest.name, one] as const);
const read = (...path: string[]) => readFileSync(join(...path), 'utf8');
const changesets = readdirSync(join(root, '.changeset'))
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .map((name) => read(root, '.changeset', name));

/** Modules of other packages that the sources of one import; the text of an example in a docstring is not an import. */
function importsOf(folder: string): string[] {
  const sources = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const code = sources.map((name) => read(folder, 'src', name).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''));
  const names = code
    .flatMap((text) => [
      ...text.matchAll(
        /^(?:import|export)\b[^;]*?\bfrom '([^'.][^']*)'|^import '([^'.][^']*)'|\bimport\('([^'.][^']*)'\)/gm,
      ),
    ])
    .map(([, a, b, c]) => (a ?? b ?? c)!)
    .filter((name) => !name.startsWith('node:'))
    .map((name) =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    );
  return [...new Set(names)];
}

describe.each(published)('%s', (name, { folder, manifest }) => {
  const { dependencies = {}, peerDependencies = {} } = manifest;

  it('says the same as the others', () => {
    expect(manifest).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      description: expect.stringMatching(/^\S.{20,}\.$/),
      license: 'MIT',
      type: 'module',
      sideEffects: expect.any(Boolean),
      engines: { node: '>=22.18' },
      publishConfig: { access: 'public' },
      scripts: {
        build: expect.stringMatching(/(^|&& )tsc -p tsconfig\.build\.json$/),
        typecheck: 'tsc -p tsconfig.json',
        test: 'vitest run',
        'test:slow': 'vitest run --mode slow',
      },
    });
    // Where the repository will be is not known; a wrong link is worse than none.
    for (const key of ['repository', 'homepage', 'bugs', 'author', 'private', 'main', 'types'])
      expect(Object.keys(manifest)).not.toContain(key);
    expect(manifest.keywords).toEqual(expect.arrayContaining(['transformer', 'tensorflowjs']));
    const keywords = manifest.keywords as string[];
    expect(keywords).toEqual([...new Set(keywords.filter((word) => /^[a-z0-9-]+$/.test(word)))]);
    expect(keywords.length).toBeGreaterThanOrEqual(4);
  });

  it('exports sources to the workspace and what is built from them to everyone', () => {
    const entries = Object.entries(manifest.exports as Record<string, Record<string, string>>);
    expect(entries.map(([path]) => path)).toContain('.');
    for (const [path, targets] of entries) {
      expect([path, Object.keys(targets)]).toEqual([path, ['posenc-source', 'types', 'default']]);
      const source = targets['posenc-source']!;
      expect([source, existsSync(join(folder, source))]).toEqual([source, true]);
      const built = source.replace('./src/', './dist/').replace(/\.ts$/, '');
      expect([targets.types, targets.default]).toEqual([`${built}.d.ts`, `${built}.js`]);
    }
  });

  it('packs what is built, its sources, README, CHANGELOG and licence', () => {
    const files = manifest.files as string[];
    expect(files).toEqual(expect.arrayContaining(['dist', 'src', 'README.md', 'CHANGELOG.md', 'LICENSE']));
    for (const file of files.filter((f) => !['dist', 'CHANGELOG.md'].includes(f)))
      expect([file, existsSync(join(folder, file))]).toEqual([file, true]);
    expect(read(folder, 'LICENSE')).toBe(read(root, 'LICENSE'));
    expect(read(folder, 'README.md')).toMatch(new RegExp(`^# ${name}\n`));
  });

  it('has a changelog, or a changeset that will make one', () => {
    const changelog = join(folder, 'CHANGELOG.md');
    const pending = changesets.some((text) => new RegExp(`^["']?${name}["']?: (patch|minor|major)$`, 'm').test(text));
    if (manifest.version === '0.0.0') expect([name, pending]).toEqual([name, true]);
    else expect(read(changelog)).toContain(`## ${manifest.version}`);
  });

  it('declares what it imports, and TensorFlow.js as a peer, so that there is one of it', () => {
    const imports = importsOf(folder).filter((other) => other !== name);
    const undeclared = imports.filter((other) => !(other in dependencies) && !(other in peerDependencies));
    expect(undeclared).toEqual([]);
    // The command line is nobody's library: it brings its own.
    if (name !== 'posenc')
      for (const other of imports.filter((o) => /^@tensorflow\/tfjs(-core)?$/.test(o)))
        expect([other, peerDependencies[other]]).toEqual([other, '^4.22.0']);
    const encodings = relative(root, folder).startsWith(join('packages', 'encodings'));
    if (encodings)
      expect(Object.keys({ ...dependencies, ...peerDependencies })).toEqual(['@posenc/core', '@tensorflow/tfjs']);
  });
});

describe('the workspace', () => {
  it('publishes what is called posenc and nothing else', () => {
    for (const { folder, manifest } of all) {
      const isPublic = relative(root, folder).startsWith('packages') || manifest.name === 'posenc';
      expect([manifest.name, manifest.private ?? false]).toEqual([manifest.name, !isPublic]);
      if (isPublic) expect(manifest.name).toMatch(/^(posenc$|@posenc\/)/);
    }
  });

  it('has one range for each dependency: the version in the workspace, or the same of a stranger', () => {
    const ranges = new Map<string, Set<string>>();
    for (const { manifest } of all)
      for (const [name, range] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }))
        ranges.set(name, (ranges.get(name) ?? new Set()).add(range));
    const own = new Set(all.map(({ manifest }) => manifest.name));
    for (const [name, found] of ranges)
      if (own.has(name)) expect([name, [...found]]).toEqual([name, ['workspace:^']]);
      else if (name !== 'typescript') expect([name, found.size]).toEqual([name, 1]); // the reference needs the TypeScript that has an API
  });

  it('points its arrows down: nothing in packages needs an app, and core needs no package', () => {
    const apps = new Set(
      all.filter(({ folder }) => relative(root, folder).startsWith('apps')).map(({ manifest }) => manifest.name),
    );
    for (const { folder, manifest } of all.filter((one) => relative(root, one.folder).startsWith('packages'))) {
      const needed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
      expect([manifest.name, needed.filter((name) => apps.has(name))]).toEqual([manifest.name, []]);
      if (folder.endsWith('core')) expect(needed.filter((name) => name.startsWith('@posenc/'))).toEqual([]);
    }
  });
});
