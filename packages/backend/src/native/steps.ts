/**
 * The steps of an installation. Each makes its result in the attempt's own folder and moves it into place when it is whole,
 * so that what is in place is finished, whenever the process ends.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { PosencError } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { runCommand, type Workshop } from './command.ts';
import { type Recipe, wheelPython } from './recipe.ts';
import { type Checksums, type Part, sha256 } from './record.ts';
import { findTools } from './requirements.ts';
import { glibc } from './system.ts';

export type StepId = 'npm' | 'packages' | 'wheel' | 'libraries' | 'binding';

export interface Step {
  readonly id: StepId;
  readonly title: string;
  /** A folder that grows while it downloads: its size is the progress. */
  readonly growing?: (shop: Workshop) => string;
  run(shop: Workshop): Promise<Omit<Part, 'seconds'>>;
}

/** The usual way: npm, whose install script downloads the library and the binding. */
export const npmStep = (recipe: Recipe): Step => ({
  id: 'npm',
  title: `npm install ${pinned(recipe)}, which downloads TensorFlow itself`,
  async run(shop) {
    const before = sizeOf(npmCache(shop));
    const sources = await npmInstall(shop, [pinned(recipe)], []);
    const inPackage = join(shop.folder, 'node_modules', recipe.npmPackage);
    const files = await checksums(shop.folder, [join(inPackage, 'deps'), join(inPackage, 'lib')]);
    return { files, sources, downloadedBytes: sizeOf(npmCache(shop)) - before };
  },
});

/** The other way: the binding compiled against the library in TensorFlow's wheel. */
export const wheelSteps = (recipe: Recipe): readonly Step[] => [
  {
    id: 'packages',
    title: `npm install ${pinned(recipe)} without its scripts`,
    async run(shop) {
      const sources = await npmInstall(shop, [pinned(recipe), 'node-api-headers@1'], ['--ignore-scripts']);
      return { files: {}, sources, downloadedBytes: sizeOf(npmCache(shop)) };
    },
  },
  {
    id: 'wheel',
    title: `pip download ${recipe.wheel}`,
    growing: (shop) => shop.work,
    async run(shop) {
      const into = join(shop.work, 'wheels');
      await runCommand(shop, findTools(shop.env).python!, [
        '-m',
        'pip',
        'download',
        ...pipOptions(shop),
        ...depth(recipe),
        '--dest',
        into,
        recipe.wheel,
      ]);
      const sources: Record<string, string> = {};
      for (const file of readdirSync(into)) sources[file] = await sha256(join(into, file));
      if (recipe.wheelSha256 && !Object.values(sources).includes(recipe.wheelSha256))
        throw new PosencError(
          `pip downloaded ${recipe.wheel}, but not the file it should be: SHA-256 ${Object.values(sources).join(', ')}, expected ${recipe.wheelSha256}. Look at where pip takes packages from (pip config list)`,
        );
      const downloadedBytes = sizeOf(into);
      moveInto(into, join(shop.folder, 'wheels'));
      remove(join(shop.folder, 'cache', 'pip'));
      return { files: {}, sources, downloadedBytes };
    },
  },
  {
    id: 'libraries',
    title: 'unpack the C library and its headers',
    async run(shop) {
      const into = join(shop.work, 'site');
      await runCommand(shop, findTools(shop.env).python!, [
        '-c',
        unpack,
        join(shop.folder, 'wheels'),
        into,
        ...recipe.keep,
      ]);
      moveInto(into, join(shop.folder, 'site'));
      remove(join(shop.folder, 'wheels'));
      return { files: await checksums(shop.folder, [join(shop.folder, 'site')]), sources: {}, downloadedBytes: 0 };
    },
  },
  {
    id: 'binding',
    title: 'compile the binding',
    async run(shop) {
      const inPackage = join(shop.folder, 'node_modules', recipe.npmPackage);
      const made = join(shop.work, 'tfjs_binding.node');
      await runCommand(shop, findTools(shop.env).compiler!, compilerOptions(shop, inPackage, made));
      const binding = join(inPackage, 'lib', 'napi-v8', 'tfjs_binding.node');
      moveInto(made, binding);
      return { files: await checksums(shop.folder, [dirname(binding)]), sources: {}, downloadedBytes: 0 };
    },
  },
];

const pinned = ({ npmPackage }: Recipe) => `${npmPackage}@${tf.version['tfjs-core']}`;
const npmCache = ({ folder }: Workshop) => join(folder, 'cache', 'npm');

/** Installs into the attempt's folder and moves node_modules into place; npm's checksums of what was asked for. */
async function npmInstall(shop: Workshop, packages: readonly string[], options: readonly string[]): Promise<Checksums> {
  writeFileSync(join(shop.work, 'package.json'), '{ "private": true }\n');
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error', '--foreground-scripts=false'];
  await runCommand(shop, findTools(shop.env).npm!, [
    'install',
    ...quiet,
    '--cache',
    npmCache(shop),
    ...options,
    ...packages,
  ]);
  const lock = JSON.parse(readFileSync(join(shop.work, 'node_modules', '.package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity?: string }>;
  };
  moveInto(join(shop.work, 'node_modules'), join(shop.folder, 'node_modules'));
  return Object.fromEntries(
    packages.map((spec) => {
      const name = spec.slice(0, spec.lastIndexOf('@'));
      const { version, integrity } = lock.packages[`node_modules/${name}`]!;
      return [`${name}@${version}`, integrity ?? 'npm gives none'];
    }),
  );
}

/** One wheel alone; for the graphics card with the libraries of CUDA, which it names as dependencies. */
const depth = ({ wheel }: Recipe) => (wheel.includes('[') ? [] : ['--no-deps']);

/** The same wheels whatever Python pip runs on, and no newer C library than this machine's. */
function pipOptions({ folder }: Workshop): string[] {
  const [, minor] = glibc()!;
  const platforms = ['manylinux1', 'manylinux2010', 'manylinux2014'];
  for (let i = 5; i <= minor; i++) platforms.push(`manylinux_2_${i}`);
  return [
    '--disable-pip-version-check',
    '--progress-bar=off',
    '--cache-dir',
    join(folder, 'cache', 'pip'),
    '--only-binary=:all:',
    '--implementation=cp',
    `--python-version=${wheelPython.version}`,
    ...wheelPython.abis.map((abi) => `--abi=${abi}`),
    ...platforms.map((platform) => `--platform=${platform}_x86_64`),
  ];
}

/** Of each wheel with something to keep: that, and its licences. */
const unpack = `
import pathlib, re, sys, zipfile
wheels, target, *keep = sys.argv[1:]
wanted = lambda name: any(name == k or (k.endswith('/') and name.startswith(k)) for k in keep)
for wheel in sorted(pathlib.Path(wheels).glob('*.whl')):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        if any(map(wanted, names)):
            for name in names:
                if wanted(name) or re.search(r'\\.dist-info/(licenses/|LICEN[CS]E|NOTICE|METADATA$)', name, re.I):
                    archive.extract(name, target)
`;

function compilerOptions({ folder }: Workshop, inPackage: string, output: string): string[] {
  const library = join(folder, 'site', 'tensorflow');
  const source = join(inPackage, 'binding');
  const up = relative(join(inPackage, 'lib', 'napi-v8'), library);
  return [
    '-shared',
    '-fPIC',
    '-O2',
    '-std=c++17',
    '-DNAPI_VERSION=8',
    `-I${join(folder, 'node_modules', 'node-api-headers', 'include')}`,
    `-I${join(library, 'include')}`,
    ...readdirSync(source)
      .filter((file) => file.endsWith('.cc'))
      .map((file) => join(source, file)),
    '-o',
    output,
    `-L${library}`,
    '-l:libtensorflow_cc.so.2',
    '-l:libtensorflow_framework.so.2',
    `-Wl,-rpath,$ORIGIN/${up}`, // relative: the folder may be moved
  ];
}

/** Every shared library below these folders; those among the headers go when the binding is compiled. */
async function checksums(folder: string, below: readonly string[]): Promise<Checksums> {
  const sums: Record<string, string> = {};
  for (const start of below.filter((path) => existsSync(path)))
    for (const entry of readdirSync(start, { withFileTypes: true, recursive: true })) {
      if (!entry.isFile() || entry.parentPath.includes('include') || !/\.(so|dylib|dll|node)(\.|$)/.test(entry.name))
        continue;
      const path = join(entry.parentPath, entry.name);
      sums[relative(folder, path)] = await sha256(path);
    }
  return sums;
}

/** Puts a finished file or folder in its place, over what an interrupted attempt may have left there. */
function moveInto(from: string, to: string): void {
  remove(to);
  mkdirSync(dirname(to), { recursive: true });
  renameSync(from, to);
}

export const remove = (path: string): void => rmSync(path, { recursive: true, force: true, maxRetries: 5 });

/** Bytes of all files below a folder. */
export function sizeOf(folder: string): number {
  if (!existsSync(folder)) return 0;
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  return bytes;
}
