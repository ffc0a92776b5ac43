/** `posenc inspect CONFIG`: what an encoding is, in words, numbers and pictures. */
import { join, resolve } from 'node:path';
import { useBackend } from '@posenc/backend';
import { fileError, writeFileAtomic } from '@posenc/checkpoints';
import { FigureError } from '@posenc/plots';
import { dimNames, parseDims } from '../config/dims.ts';
import { readEncoding } from '../config/encoding.ts';
import { makeFolder } from '../config/folder.ts';
import { type Figure, figuresOf } from '../inspect/figures/index.ts';
import { type Inspection, inspect, positionLimits } from '../inspect/inspection.ts';
import { type Drawn, pageOf } from '../inspect/page.ts';
import { printInspection } from '../inspect/print.ts';
import type { Io } from '../io.ts';
import { toJson } from '../ui/json.ts';
import { painter, widthOf } from '../ui/style.ts';
import { type AddCommand, configHelp, wholeNumber, withExamples, withJson, withPlugins } from './common.ts';

interface Options {
  readonly dims?: string;
  readonly positions: number;
  readonly out?: string;
  readonly json?: true;
  readonly plugin: string[];
}

export const addInspect: AddCommand = (program, io) => {
  const command = program
    .command('inspect')
    .summary('show what an encoding is: equation, options, tables, pictures')
    .description(
      'Show what an encoding is: equation, source, traits, parameters, options with their defaults, where paper and practice differ, and its tables; with --out, draw them.',
    )
    .argument('<config>', 'the encoding (see below)')
    .option('--dims <sizes>', `the stack it is shown in: ${dimNames.join(', ')} as name=value,…`)
    .option(
      '--positions <number>',
      'positions shown',
      wholeNumber(positionLimits.least, positionLimits.most),
      positionLimits.usual,
    )
    .option('--out <folder>', 'draw: one SVG a picture, and index.html with all of them')
    .addHelpText('after', configHelp);
  withPlugins(withJson(command)).action(async (spec: string, options: Options) => {
    await useBackend('cpu');
    const { config, registry } = await readEncoding(spec, options.plugin, io);
    const inspection = inspect(config, registry, parseDims(options.dims), options.positions);
    const files = options.out === undefined ? [] : draw(inspection, options.out, io);
    io.stdout.write(options.json ? toJson(documentOf(inspection, files)) : textOf(inspection, files, io));
  });
  withExamples(command, io, [
    ['posenc inspect rope', 'RoPE as published'],
    ['posenc inspect rope --out pictures', 'draw it: open pictures/index.html'],
    [`posenc inspect '{"type":"rope","scaling":{"type":"ntk","factor":4}}' --json`, 'a variant, for a program to read'],
    ['posenc inspect t5 --dims numHeads=4,causal=false', 'in a bidirectional stack of four heads'],
    ['posenc inspect encoding.json --positions 512', 'from a file, over more positions'],
    ['posenc inspect ./mine.ts', 'an encoding of your own'],
  ]);
};

function textOf(inspection: Inspection, files: readonly string[], { stdout }: Io): string {
  const page = files.at(-1);
  const beside = files.length > 1 ? `${files.length - 1} SVG files beside it` : 'there was nothing to draw';
  const end = page ? `Drawn: open ${page} (${beside})` : 'To see it: --out FOLDER draws the pictures.';
  return `${printInspection(inspection, painter(stdout), widthOf(stdout))}\n${end}\n`;
}

/** Draws everything into a folder, made if need be; index.html last, so that it never shows what is not there. */
function draw(inspection: Inspection, folder: string, io: Io): string[] {
  const figures = figuresOf(inspection).flatMap((figure) => drawn(figure, io));
  const target = resolve(io.cwd, folder);
  try {
    makeFolder(target);
  } catch (error) {
    throw fileError(error, 'draw into', folder);
  }
  for (const { name, svg } of figures) writeFileAtomic(join(target, `${name}.svg`), svg);
  writeFileAtomic(join(target, 'index.html'), pageOf(inspection, figures));
  return [...figures.map(({ name }) => join(folder, `${name}.svg`)), join(folder, 'index.html')];
}

/** A picture that its numbers do not allow (none is finite, say) is left out, with a note. */
function drawn(figure: Figure, { stderr }: Io): Drawn[] {
  try {
    return [{ ...figure, svg: figure.draw() }];
  } catch (error) {
    if (!(error instanceof FigureError)) throw error;
    stderr.write(`note: not drawn: ${error.message}\n`);
    return [];
  }
}

/** The JSON document. A `maxPosition` of null means that there is no last position. */
function documentOf(inspection: Inspection, files: readonly string[]) {
  const { config, dims, parts, traits, holes, params, paramCount, measured } = inspection;
  const { embed, groups, positions } = measured;
  return {
    config,
    dims,
    parts,
    traits,
    holes,
    parameters: { count: paramCount, tensors: params },
    measured: {
      positions,
      ...(embed && { embed: { shape: [positions, embed.width], data: embed.table } }),
      groups: groups.map(({ rotation, ...group }) => ({
        ...group,
        ...(rotation && {
          rotation: {
            pairs: rotation.pairs?.map(({ channels, frequency }) => ({ channels, frequency })) ?? null,
            still: rotation.still,
            similarity: rotation.similarity,
            lengthError: rotation.lengthError,
            sameInAllHeads: rotation.sameInAllHeads,
          },
        }),
      })),
    },
    files,
  };
}
