/** `posenc new NAME`: an encoding to start from, with its tests. */
import { relative, resolve } from 'node:path';
import type { Io } from '../io.ts';
import { filesAlone } from '../new/alone.ts';
import { writeNew } from '../new/files.ts';
import { cloneAround, packageFiles } from '../new/in-clone.ts';
import { type Names, namesOf } from '../new/names.ts';
import { toJson } from '../ui/json.ts';
import { quoted } from '../ui/shell.ts';
import { columns, painter } from '../ui/style.ts';
import { type AddCommand, withExamples, withJson } from './common.ts';

interface Options {
  readonly out?: string;
  readonly json?: true;
}

/** What was made, and what to do with it. Paths are relative to where the command ran. */
interface Made {
  readonly type: string;
  /** Of the package; null for a file of its own. */
  readonly package: string | null;
  /** The one with the encoding. */
  readonly source: string;
  readonly files: readonly string[];
  readonly next: readonly Step[];
}

interface Step {
  readonly command: string;
  readonly what: string;
}

export const addNew: AddCommand = (program, io) => {
  const command = program
    .command('new')
    .summary('start an encoding of your own')
    .description(
      'Start an encoding of your own: a file that works and says in comments what to change where, with one trained parameter, and its test. In a clone of posenc’s repository it becomes a package in packages/encodings.',
    )
    .argument('<name>', 'lower-case words joined by hyphens; it is the type in configs')
    .option('--out <folder>', 'where the file and its test go; default: here');
  withJson(command).action((name: string, options: Options) => {
    const names = namesOf(name);
    const clone = options.out === undefined ? cloneAround(io.cwd) : undefined;
    const made = clone === undefined ? alone(names, options.out ?? '.', io) : inClone(names, clone, io);
    io.stdout.write(options.json ? toJson(made) : textOf(made, io));
  });
  withExamples(command, io, [
    ['posenc new log-distance', 'a file and its test, here; in a clone, a package'],
    ['posenc new nearest-first --out encodings --json', 'elsewhere, for a program to read'],
  ]);
};

function inClone(names: Names, clone: string, { cwd }: Io): Made {
  const { files, path } = packageFiles(clone, names);
  writeNew(files, cwd);
  const name = `@posenc/${names.type}`;
  return {
    type: names.type,
    package: name,
    source: relative(cwd, path),
    files: Object.keys(files).map((path) => relative(cwd, path)),
    next: [
      { command: 'npx pnpm install', what: 'links the package into the workspace' },
      { command: `npx pnpm --filter ${name} test`, what: 'the laws on cpu and simd, golden values, the README' },
      { command: `npx pnpm --filter ${name} typecheck`, what: 'the types' },
      { command: `npm run posenc -- inspect ${names.type}`, what: 'what it is; list, compare and bench know it too' },
    ],
  };
}

function alone(names: Names, out: string, { cwd }: Io): Made {
  const { files, path, test, install } = filesAlone(resolve(cwd, out), names, cwd);
  writeNew(files, cwd);
  const shown = (file: string) => relative(cwd, file);
  const module = quoted(`./${shown(path)}`);
  return {
    type: names.type,
    package: null,
    source: shown(path),
    files: Object.keys(files).map(shown),
    next: [
      ...install.map((command) => ({ command, what: 'what the file and its test import' })),
      { command: `node --test ${quoted(shown(test))}`, what: 'the laws on cpu and simd' },
      { command: `npx posenc inspect ${module} --out pictures`, what: 'what it is, drawn' },
      { command: `npx posenc compare suite.json --plugin ${module}`, what: 'against others, in a suite that names it' },
    ],
  };
}

function textOf({ type, package: name, source, files, next }: Made, io: Io): string {
  const paint = painter(io.stdout);
  return `${[
    `Made ${paint('bold', name === null ? type : `the package ${name}`)}:`,
    ...files.map((file) => `  ${file}`),
    '',
    `It works, and trains one parameter. Change ${paint('bold', source)} from top to bottom.`,
    '',
    paint('bold', 'Next:'),
    ...columns(next.map(({ command, what }) => [`  ${command}`, what])),
  ].join('\n')}\n`;
}
