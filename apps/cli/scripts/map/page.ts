/** docs/map.md, as text: the registry says what an encoding is, docs/data/map.json what is known of it, docs/measured.json what we saw. */
import {
  type AnyEncoding,
  countParams,
  type Dims,
  dimsOf,
  type Encoding,
  type Hole,
  holesOf,
  type Registry,
  resolveModel,
} from '@posenc/core';
import { stackText, traitTexts } from '../../src/inspect/words.ts';
import { grouped } from '../../src/ui/numbers.ts';
import type { MapData, Measured, MeasuredRow } from './data.ts';
import { lossText, measuredTable, trainedText } from './measured.ts';

/** What is asked of the registry for one encoding, with its defaults. */
interface Entry {
  readonly plugin: AnyEncoding;
  readonly about: MapData['encodings'][string];
  readonly encoding: Encoding;
  readonly holes: readonly Hole[];
  readonly rows: readonly MeasuredRow[];
}

export function mapPage(registry: Registry, data: MapData, measured: Measured): string {
  const dims = dimsOf(resolveModel({ ...data.stack, vocabSize: 1 }));
  const entries = registry.plugins.map((plugin): Entry => {
    const encoding = registry.create(registry.parse({ type: plugin.type }), dims);
    const about = data.encodings[plugin.type];
    if (!about) throw new Error(`docs/data/map.json has no entry "${plugin.type}": add its idea, cost and claims`);
    const rows = measured.rows.filter((row) => row.encoding.type === plugin.type);
    return { plugin, about, encoding, holes: holesOf(encoding, dims), rows };
  });
  return `${[
    '# A map of the field',
    '<!-- Written by `npm run map` from the registry, docs/data/map.json and docs/measured.json: change those, not this. -->',
    introduction(dims),
    overview(entries),
    ...['## What a hole costs', holeCosts(data)],
    ...['## Which models use what', models(data)],
    ...['## What our demo measured', demo(measured)],
    '## The encodings, one by one',
    ...entries.flatMap((entry) => section(entry, data, measured)),
    ...['## Not built, and why', ...notBuilt(data)],
    ...['## How others would go in', ...wouldFit(data)],
  ].join('\n\n')}\n`;
}

const introduction = (
  dims: Dims,
) => `Every encoding that comes with posenc: the idea, the holes it fills in the formula of attention, what it costs, who uses it, what its
authors and others report, what we measured, and where the traps are. New to all this? Read [why positions](why-positions.md) first; words
are in the [glossary](glossary.md).

For query position i and key position j,

    x_i  ← embed(x)_i                                        once; infuse: in every layer, for queries and keys alone
    s_ij = scale_ij · ⟨R q_i, R k_j⟩ · scoreScale            R: rotate; \`scores\` replaces the product
    s_ij = s_ij + relativeBias(j − i) + bias_ij              then mask → softmax
    o_i  = mix(weights, v)_i

and \`carry\` keeps numbers per token for \`bias\` and \`scores\`. Holes and parameters below are not typed in but asked of the code, with each one’s
defaults, for ${stackText(dims)}.`;

function overview(entries: readonly Entry[]): string {
  const rows = entries.map(({ plugin, encoding, holes }) => {
    const { traits } = encoding;
    const cells = [
      `[\`${plugin.type}\`](#${plugin.type})`,
      holesText(holes),
      grouped(countParams(encoding.params)),
      !traits.readsPositions
        ? 'not read'
        : Number.isFinite(traits.maxPosition)
          ? `below ${grouped(traits.maxPosition)}`
          : 'any',
      traits.readsPositions ? (traits.shiftInvariant ? 'distances' : 'absolute') : '–',
      traits.requiresCausal ? 'no' : 'yes',
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| `type` | fills | parameters | positions | what counts | bidirectional |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

const holesText = (holes: readonly Hole[]) => holes.join(', ') || 'nothing';

const holeCosts = ({ holeCosts }: MapData) =>
  [
    '| hole | adds | which is |',
    '|---|---|---|',
    ...Object.entries(holeCosts).map(([hole, { order, meaning }]) => `| ${hole} | ${order} | ${meaning} |`),
  ].join('\n');

const models = ({ models }: MapData) =>
  [
    '| model | since | encoding | how |',
    '|---|---|---|---|',
    ...[...models]
      .sort((a, b) => a.year - b.year)
      .map(({ name, year, encodings, how, link }) => {
        const types = encodings.map((type) => `[\`${type}\`](#${type})`).join(', ');
        return `| [${name}](${link}) | ${year} | ${types} | ${how} |`;
      }),
  ].join('\n');

const demo = (
  measured: Measured,
) => `${trainedText(measured)} In nats per character, mean ± standard deviation over seeds; the same characters are scored in every column. Context
alone grows. Small models and one text: an order of magnitude, not a verdict.

${measuredTable(measured, measured.rows)}

“Shuffled” is the trained length again with position numbers permuted: an encoding that isn’t hurt doesn’t read them. A bigram model of the
training text has ${lossText(measured.bigram)}, a unigram model ${lossText(measured.unigram)}. All columns, curves and cautions are in the report that \`npm run demo\` writes.`;

function section({ plugin, about, encoding, holes, rows }: Entry, data: MapData, measured: Measured): string[] {
  const users = data.models.filter(({ encodings }) => encodings.includes(plugin.type)).map(({ name }) => name);
  const costs = holes.map((hole) => `${data.holeCosts[hole].order} (${hole})`);
  const parameters = Object.entries(encoding.params).map(([name, { shape }]) => `\`${name}\` [${shape.join(', ')}]`);
  const facts = [
    `**Fills** ${holesText(holes)}: ${traitTexts(encoding.traits).join('; ')}.`,
    `**Parameters** ${grouped(countParams(encoding.params))}${parameters.length ? `: ${parameters.join(', ')}` : ''}.`,
    `**Cost** ${costs.join(' + ') || 'none'}. ${about.cost}`,
    `**Used by** ${users.join(', ') || 'no widely used model that we know of'}.`,
    `**Source** ${linked(plugin.reference)}.`,
  ];
  const seen = rows.length
    ? measuredTable(measured, rows)
    : `Not part of the demo. To measure it, put \`${JSON.stringify({ type: plugin.type })}\` into a suite: [\`apps/cli/suites/demo.json\`](../apps/cli/suites/demo.json).`;
  return [
    `### ${plugin.type}`,
    about.idea,
    plugin.equation
      .split(';')
      .map((line) => `    ${line.trim()}`)
      .join('\n'),
    list(facts),
    '**Reported**',
    list(about.claims.map(({ says, by, link }) => `${says} ([${by}](${link}))`)),
    '**Measured by us**',
    seen,
    '**Traps**',
    list(plugin.notes.map((note) => note)),
  ];
}

const list = (items: readonly string[]) => items.map((item) => `- ${item}`).join('\n');

/** Addresses in a reference become links. */
const linked = (text: string) => text.replace(/https?:\/\/[^\s;,)]+/g, (url) => `<${url}>`);

const notBuilt = ({ notBuilt }: MapData) => [
  list(notBuilt.map(({ family, example, link, why }) => `**${capital(family)}** ([${example}](${link})): ${why}.`)),
];

const wouldFit = ({ wouldFit }: MapData) => [
  'None of these is built; this is which hooks of [the contract](../packages/core/src/encoding.ts) they would use.',
  list(
    wouldFit.map(
      ({ name, idea, holes, how, link }) => `**[${name}](${link})** (${idea}). Fills ${holesText(holes)}: ${how}.`,
    ),
  ),
];

const capital = (text: string) => text[0]!.toUpperCase() + text.slice(1);
