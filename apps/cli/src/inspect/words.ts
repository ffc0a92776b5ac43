/** What an inspection says in words, shared by the terminal and the page. */
import type { Dims, Hole, Init, Traits } from '@posenc/core';
import { grouped, ranges, short } from '../ui/numbers.ts';
import type { Inspection } from './inspection.ts';

/** One sentence for each trait, true or not. */
export function traitTexts(traits: Traits): string[] {
  const { maxPosition, shiftInvariant, requiresCausal, readsPositions, readsSeqLen } = traits;
  return [
    Number.isFinite(maxPosition)
      ? `defined at positions 0 to ${grouped(maxPosition - 1)} only`
      : 'defined at every position',
    ...(readsPositions
      ? [shiftInvariant ? 'only distances matter: shifting all positions changes nothing' : 'absolute positions matter']
      : ['reads no positions']),
    requiresCausal ? 'causal stacks only' : 'causal and bidirectional stacks',
    ...(readsSeqLen ? ['depends on the length of the whole sequence'] : []),
  ];
}

/** What each hole of the attention formula does. */
const meanings: Readonly<Record<Hole, string>> = {
  embed: 'puts a vector into every embedding',
  infuse: 'puts a vector into what queries and keys are made of',
  rotate: 'turns queries and keys',
  scale: 'multiplies the scores',
  relativeBias: 'adds a number per distance to the scores',
  carry: 'carries numbers per token along',
  scores: 'replaces the product of query and key',
  bias: 'adds to the scores by position or content',
  mix: 'replaces the weighted sum of values',
};

export function holesText({ holes, measured }: Inspection): string {
  if (holes.length === 0) return 'nothing: every hole of the attention formula is left empty';
  const all = holes.map((hole) => `${hole} (${meanings[hole]})`).join(', ');
  const byHoles = new Map<string, number[]>();
  for (const { holes: filled, layers } of measured.groups) {
    const key = filled.join(', ') || 'nothing';
    byHoles.set(
      key,
      [...(byHoles.get(key) ?? []), ...layers].sort((a, b) => a - b),
    );
  }
  if (byHoles.size === 1) return all;
  return [all, ...Array.from(byHoles, ([filled, layers]) => `${layersText(layers)}: ${filled}`)].join('; ');
}

/** "layer 3", "layers 0–2, 4". */
export const layersText = (layers: readonly number[]): string =>
  `layer${layers.length > 1 ? 's' : ''} ${ranges(layers)}`;

export function initText(init: Init): string {
  if (init.kind === 'normal') return `normal, mean ${short(init.mean ?? 0)}, std ${short(init.std)}`;
  if (init.kind === 'uniform') return `uniform from ${short(init.low)} to ${short(init.high)}`;
  if (init.kind === 'constant') return `all ${short(init.value)}`;
  return 'given values';
}

export function stackText(dims: Dims): string {
  const { modelDim, embeddingDim, numLayers, numHeads, numKvHeads, headDim, causal } = dims;
  const heads = numKvHeads === numHeads ? `${numHeads} heads` : `${numHeads} query and ${numKvHeads} key/value heads`;
  const embedding = embeddingDim === modelDim ? '' : ` (embeddings ${embeddingDim})`;
  return `${numLayers} ${causal ? 'causal' : 'bidirectional'} layers, modelDim ${modelDim}${embedding}, ${heads} of headDim ${headDim}`;
}
