/** `posenc list`: every encoding, and what it fills in the formula of attention. */
import { useBackend } from '@posenc/backend';
import { type AnyEncoding, countParams, type Dims, type Hole, holesOf, type Registry, type Traits } from '@posenc/core';
import { parseDims } from '../config/dims.ts';
import { loadRegistry } from '../config/encoding.ts';
import { registryWith } from '../encodings.ts';
import { isMistake } from '../exit.ts';
import { stackText } from '../inspect/words.ts';
import type { Io } from '../io.ts';
import { workspaceEncodings } from '../plugins/workspace.ts';
import { loadEncodings } from '../plugins.ts';
import { toJson } from '../ui/json.ts';
import { grouped } from '../ui/numbers.ts';
import { columns, hanging, painter, widthOf } from '../ui/style.ts';
import { type AddCommand, withExamples, withJson, withPlugins } from './common.ts';

/** The nodes that make one encoding of several; they are the registry's own. */
const algebra = [
  {
    type: 'compose',
    equation: 'compose(a, b, …): all of them in every layer',
    example: { type: 'compose', of: [{ type: 'sinusoidal' }, { type: 'alibi' }] },
  },
  {
    type: 'perLayer',
    equation: 'perLayer(a, b, …; pattern): layer l uses member pattern[l mod length]',
    example: { type: 'perLayer', of: [{ type: 'rope' }, { type: 'nope' }], pattern: [0, 0, 0, 1] },
  },
] as const;

export const addList: AddCommand = (program, io) => {
  const command = program
    .command('list')
    .summary('list the encodings and what each of them fills in')
    .description(
      'List the encodings with their defaults: equation, holes filled in the formula of attention, parameters, traits, source.',
    )
    .option('--dims <sizes>', 'the stack parameters are counted for: name=value,…');
  withPlugins(withJson(command)).action(async (options: { dims?: string; plugin: string[]; json?: true }) => {
    await useBackend('cpu');
    const dims = parseDims(options.dims);
    const { registry, broken } = await withWorkspace(options.plugin, io);
    const rows = registry.plugins.map((plugin) => describe(plugin, registry, dims));
    if (options.json) io.stdout.write(toJson({ dims, encodings: rows, algebra, broken }));
    else io.stdout.write(`${textOf(rows, dims, io)}${broken.map(brokenText).join('')}`);
  });
  withExamples(command, io, [
    ['posenc list', 'all encodings'],
    [
      'posenc list --dims modelDim=768,numHeads=12,numLayers=12 --json',
      'parameters at the size of GPT-2, for a program to read',
    ],
    ['posenc list --plugin ./mine.ts', 'with one of your own'],
  ]);
};

interface Row {
  readonly type: string;
  readonly equation: string;
  readonly reference: string;
  readonly notes: readonly string[];
  /** The defaults. */
  readonly config: unknown;
  /** Found by calling the hooks. */
  readonly holes: readonly Hole[];
  readonly parameters: number;
  readonly traits: Traits;
}

/** An encoding with its defaults, or why it cannot be had for this stack. */
function describe(plugin: AnyEncoding, registry: Registry, dims: Dims): Row | Refusal {
  const { type, equation, reference, notes } = plugin;
  try {
    const config = registry.parse({ type });
    const encoding = registry.create(config, dims);
    const parameters = countParams(encoding.params);
    return {
      type,
      equation,
      reference,
      notes,
      config,
      holes: holesOf(encoding, dims),
      parameters,
      traits: encoding.traits,
    };
  } catch (error) {
    if (!isMistake(error)) throw error;
    return { type, equation, reference, notes, refused: error.message };
  }
}

interface Refusal extends Pick<Row, 'type' | 'equation' | 'reference' | 'notes'> {
  readonly refused: string;
}

/** All that has a name here: what posenc brings, the plug-ins, and what else the clone holds that posenc may run from. */
async function withWorkspace(plugins: readonly string[], io: Io): Promise<{ registry: Registry; broken: Broken[] }> {
  const { loaded, registry } = await loadRegistry(plugins, io);
  const found: AnyEncoding[] = [];
  const broken: Broken[] = [];
  for (const name of workspaceEncodings().keys())
    try {
      found.push(...(await loadEncodings([name], io.cwd)).map(({ plugin }) => plugin));
    } catch (error) {
      if (!isMistake(error)) throw error;
      broken.push({ package: name, reason: error.message });
    }
  const others = found.filter(({ type }) => !registry.plugins.some((known) => known.type === type));
  return { registry: registryWith([...loaded.map(({ plugin }) => plugin), ...others]), broken };
}

/** A package that cannot be loaded, half written say; it does not hide the others. */
interface Broken {
  readonly package: string;
  readonly reason: string;
}

const brokenText = ({ package: name, reason }: Broken) => `\nNot listed: ${name}\n  ${reason}\n`;

function textOf(rows: readonly (Row | Refusal)[], dims: Dims, { stdout }: Io): string {
  const paint = painter(stdout);
  const width = widthOf(stdout);
  const [head = '', ...body] = columns(
    [['type', 'fills', 'parameters', 'positions', 'by distance', 'bidirectional'], ...rows.map(cells)],
    [2],
  );
  const one = ({ type, equation, reference }: Row | Refusal) =>
    `\n${paint('bold', type)}\n${equation
      .split(';')
      .map((e) => `  ${paint('cyan', e.trim())}\n`)
      .join('')}${hanging('  ', reference, width)}`;
  return `${[
    paint('bold', head),
    ...body,
    '',
    paint('dim', hanging('', `With each one’s defaults, for ${stackText(dims)}.`, width)),
    ...rows.map(one),
    `\n${paint('bold', 'Several at once')}`,
    ...algebra.flatMap(({ equation, example }) => [`  ${paint('cyan', equation)}`, `    ${JSON.stringify(example)}`]),
  ].join('\n')}\n`;
}

function cells(row: Row | Refusal): string[] {
  if ('refused' in row) return [row.type, row.refused];
  const { type, holes, parameters, traits } = row;
  const positions = Number.isFinite(traits.maxPosition) ? `below ${grouped(traits.maxPosition)}` : 'any';
  const yes = (value: boolean) => (value ? 'yes' : 'no');
  return [
    type,
    holes.join(', ') || 'nothing',
    grouped(parameters),
    traits.readsPositions ? positions : 'not read',
    traits.readsPositions ? yes(traits.shiftInvariant) : '–',
    yes(!traits.requiresCausal),
  ];
}
