/** `posenc lint`: what is questionable about the positions of a model or a suite, and which bug each remark prevents. */
import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Finding, lintHuggingFace, lintRules, lintStack, stackRules } from '@posenc/analysis';
import { useBackend } from '@posenc/backend';
import { dimsOf, PosencError, resolveModel } from '@posenc/core';
import { nameOf, parseSuite } from '@posenc/training';
import { loadRegistry } from '../config/encoding.ts';
import { readJson } from '../config/read.ts';
import { exit, Verdict } from '../exit.ts';
import type { Io } from '../io.ts';
import { toJson } from '../ui/json.ts';
import { hanging, painter, widthOf } from '../ui/style.ts';
import { type AddCommand, withExamples, withJson, withPlugins } from './common.ts';

interface Options {
  readonly strict?: true;
  readonly rules?: true;
  readonly plugin: string[];
  readonly json?: true;
}

/** A finding, and the entry of a suite that it is about. */
interface Remark extends Finding {
  readonly entry?: string;
}

export const addLint: AddCommand = (program, io) => {
  const command = program
    .command('lint')
    .summary('explain what is questionable about positions')
    .description(
      'Explain every questionable positional setting of a Hugging Face model (a folder or its config.json) or of a suite. Exit code 1 when there are errors, for CI.',
    )
    .argument('[path]', 'a Hugging Face folder, a config.json, or a suite')
    .option('--strict', 'exit with 1 for warnings, too')
    .option('--rules', 'list the rules and the bugs they prevent');
  withPlugins(withJson(command)).action((path: string | undefined, options: Options) => lint(path, options, io));
  withExamples(command, io, [
    ['posenc lint suite.json', 'a suite, before training it'],
    ['posenc lint config.json', 'a model’s config; a folder with one will do'],
    ['posenc lint --rules', 'what is looked for'],
  ]);
};

async function lint(path: string | undefined, options: Options, io: Io): Promise<void> {
  if (options.rules) return printRules(options, io);
  if (path === undefined)
    throw new PosencError('nothing to look at: give a Hugging Face folder, a config.json or a suite');
  const value = await readJson(isFolder(path, io) ? join(path, 'config.json') : path, io);
  const isSuite = typeof value === 'object' && value !== null && 'encodings' in value;
  const remarks = isSuite ? await lintSuite(value, path, options, io) : lintHuggingFace(value);
  io.stdout.write(options.json ? toJson({ path, findings: remarks }) : textOf(remarks, path, io));
  const worst = options.strict ? ['error', 'warning'] : ['error'];
  if (remarks.some((remark) => worst.includes(remark.level))) throw new Verdict(exit.mistake);
}

function isFolder(path: string, io: Io): boolean {
  return path !== '-' && (statSync(resolve(io.cwd, path), { throwIfNoEntry: false })?.isDirectory() ?? false);
}

async function lintSuite(value: unknown, path: string, options: Options, io: Io): Promise<Remark[]> {
  await useBackend('cpu');
  const suite = parseSuite(value, path, dirname(resolve(io.cwd, path)));
  const { registry } = await loadRegistry(options.plugin, io);
  return suite.encodings.flatMap((entry) => {
    const name = nameOf(entry);
    // The task decides the vocabulary, and no rule depends on it.
    const model = resolveModel({ ...suite.model, ...entry.model, vocabSize: 1 }, `model of "${name}"`);
    const dims = dimsOf(model);
    const encoding = registry.create(registry.parse(entry.encoding, `encoding of "${name}"`), dims);
    const trainingLength = entry.training?.length ?? suite.training.length;
    const longest = trainingLength * Math.max(...suite.evaluation.multiples);
    return lintStack({ encoding, model, dims, trainingLength, longest }).map((finding) => ({
      entry: name,
      ...finding,
    }));
  });
}

function textOf(remarks: readonly Remark[], path: string, { stdout }: Io): string {
  if (remarks.length === 0) return `${path}: nothing to remark\n`;
  const paint = painter(stdout);
  const colors = { error: 'red', warning: 'yellow', note: 'cyan' } as const;
  const prevents = new Map([...lintRules, ...stackRules].map((rule) => [rule.name, rule.prevents]));
  const blocks = remarks.map(({ level, rule, at, message, entry }) => {
    const place = [entry && `"${entry}"`, at].filter(Boolean).join(': ');
    const head = `${paint([colors[level], 'bold'], level)} ${place} (${rule})`;
    return [
      head,
      hanging('  ', message, widthOf(stdout)),
      paint('dim', hanging('  prevents ', prevents.get(rule) ?? '', widthOf(stdout))),
    ].join('\n');
  });
  const counts = (['error', 'warning', 'note'] as const)
    .map((level) => [level, remarks.filter((remark) => remark.level === level).length] as const)
    .filter(([, n]) => n > 0)
    .map(([level, n]) => `${n} ${level}${n > 1 ? 's' : ''}`);
  return `${blocks.join('\n\n')}\n\n${path}: ${counts.join(', ')}\n`;
}

function printRules(options: Options, { stdout }: Io): void {
  const groups = { 'config.json': lintRules, 'encodings in a suite': stackRules };
  if (options.json) {
    stdout.write(toJson(groups));
    return;
  }
  const paint = painter(stdout);
  for (const [title, rules] of Object.entries(groups)) {
    stdout.write(`${paint('bold', title)}\n`);
    for (const { name, prevents } of rules)
      stdout.write(`${hanging(`  ${name.padEnd(20)} `, prevents, widthOf(stdout))}\n`);
  }
}
