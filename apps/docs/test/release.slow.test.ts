/**
 * A rehearsal of docs/releasing.md, line by line, in a copy of the repository, against a registry that is not one. Nothing leaves
 * the machine.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allPackages, publicPackages, root } from '../src/packages.ts';
import { anybody, copyRepository } from './copy.ts';
import { type StandIn, standInRegistry } from './registry.ts';

let copy: string;
const page = readFileSync(join(root, 'docs/releasing.md'), 'utf8');
const lines = [...page.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].flatMap(([, block]) => block!.trim().split(/\n */));
const versions = () => Object.fromEntries(allPackages(copy).map(({ manifest }) => [manifest.name, manifest.version]));
const names = publicPackages().map(({ manifest }) => manifest.name);
let registry: StandIn;

/** A command line of the page, in the copy, with everything that npm and pnpm would send going to the stand-in. */
async function run(line: string): Promise<string> {
  const [command, ...args] = line.split(' ');
  try {
    const { stdout, stderr } = await promisify(execFile)(command!, args, {
      cwd: copy,
      env: anybody,
      maxBuffer: 1 << 28,
    });
    return stdout + stderr;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${line} failed:\n${stdout}${stderr}`);
  }
}
const commit = async () => {
  await run('git add --all');
  await run('git commit --quiet --message=Release');
};

/** Changesets as they are before the release: a package, how much, what is said. */
let changes: { readonly name: string; readonly summary: string }[];

beforeAll(async () => {
  registry = await standInRegistry();
  copy = copyRepository('release');
  writeFileSync(join(copy, '.changeset/rehearsal.md'), '---\n"@posenc/core": minor\n---\n\nA rehearsal.\n');
  changes = readdirSync(join(copy, '.changeset'))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .flatMap((name) => {
      const [, front, summary] = readFileSync(join(copy, '.changeset', name), 'utf8').split(/^---$/m);
      return [...front!.matchAll(/"(.+)": \w+/g)].map(([, changed]) => ({ name: changed!, summary: summary!.trim() }));
    });
  writeFileSync(
    join(copy, '.npmrc'),
    `registry=${registry.url}\n${registry.url.replace('http:', '')}:_authToken=none\n`,
  );
  await commit();
}, 600_000);
afterAll(() => {
  registry.close();
  rmSync(copy, { recursive: true, force: true });
}, 600_000);

it('the page has these steps', () => {
  expect(lines).toEqual([
    'npx changeset status',
    'npx changeset version',
    'npm test',
    'npm run test:slow',
    'npm run release:dry',
    'npm login',
    'npm run release',
    'git push --follow-tags',
  ]);
});

it('npx changeset status: what waits', async () => {
  const printed = await run('npx changeset status');
  for (const { name } of changes) expect(printed).toContain(name);
});

it('npx changeset version: versions, changelogs, and ranges that still hold', async () => {
  const before = versions();
  await run('npx changeset version');
  const after = versions();
  expect(readdirSync(join(copy, '.changeset')).sort()).toEqual(['README.md', 'config.json']);
  for (const { folder, manifest } of allPackages(copy)) {
    const changelog = join(folder, 'CHANGELOG.md');
    if (manifest.private) {
      expect([manifest.name, after[manifest.name], existsSync(changelog)]).toEqual([
        manifest.name,
        before[manifest.name],
        false,
      ]);
      continue;
    }
    const own = changes.filter(({ name }) => name === manifest.name);
    const needed = Object.keys(manifest.dependencies ?? {}).filter((name) => name in after);
    for (const name of needed) expect(manifest.dependencies![name]).toBe('workspace:^');
    const changed = own.length > 0 || needed.some((name) => after[name] !== before[name]);
    expect([manifest.name, after[manifest.name] !== before[manifest.name]]).toEqual([manifest.name, changed]);
    if (!changed) continue;
    const text = readFileSync(changelog, 'utf8');
    expect(text).toMatch(new RegExp(`^# ${manifest.name}\n\n## ${after[manifest.name]}\n`));
    for (const { summary } of own) expect(text).toContain(`- ${summary.replaceAll('\n', '\n  ')}`);
  }
  await run('npx pnpm install --offline --frozen-lockfile --reporter=silent');
});

it('npm run release:dry: each public package once, after those it needs, and nothing is sent', async () => {
  const printed = await run('npm run release:dry');
  const order = [...printed.matchAll(/📦 (\S+)@\d/g)].map(([, name]) => name!);
  expect([...order].sort()).toEqual([...names].sort());
  for (const { manifest } of publicPackages(copy))
    for (const needed of Object.keys(manifest.dependencies ?? {}).filter((name) => names.includes(name)))
      expect([needed, order.indexOf(needed) < order.indexOf(manifest.name)]).toEqual([needed, true]);
  expect([...registry.methods.keys()]).toEqual(['GET']);
});

it('npm run release: every package as npm would get it, and its tag', async () => {
  await commit();
  await run('npm run release');
  const { published } = registry;
  const after = versions();
  expect(published.map(({ manifest }) => manifest.name).sort()).toEqual([...names].sort());
  for (const { manifest, tag, tarball } of published) {
    expect([manifest.version, tag]).toEqual([after[manifest.name], 'latest']);
    const ranges = Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies });
    for (const [name, range] of ranges) {
      expect([name, range]).toEqual([name, expect.not.stringMatching(/^(workspace|catalog|file|link):/)]);
      if (name in after) expect([name, range]).toEqual([name, `^${after[name]}`]);
    }
    writeFileSync(join(copy, 'packed.tgz'), tarball);
    const files = (await run('tar -tzf packed.tgz')).split('\n');
    for (const file of [
      'package.json',
      'README.md',
      'CHANGELOG.md',
      'LICENSE',
      'dist/index.js',
      'dist/index.d.ts',
      'src/index.ts',
    ])
      expect([manifest.name, files]).toEqual([manifest.name, expect.arrayContaining([`package/${file}`])]);
  }
  const tags = (await run('git tag')).trim().split('\n');
  expect(tags.sort()).toEqual(names.map((name) => `${name}@${after[name]}`).sort());
});
