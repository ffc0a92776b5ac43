/**
 * RoPE, rotary position embedding: queries and keys turn, pair of channels by pair, by an angle proportional to position, so
 * that their product depends on the distance alone.
 *
 *     s_ij = ⟨R(p_i) q_i, R(p_j) k_j⟩ · scoreScale,     R(p) turns pair k by p·θ_k,     θ_k = base^(−2k/r)
 */
import {
  at,
  defineEncoding,
  encoding,
  type Grid,
  keepLast,
  type NamedTable,
  PosencError,
  type PositionalEncoding,
  type Positions,
} from '@posenc/core';
import { type RopeConfig, ropeSchema } from './config.ts';
import { scaledFrequencies, scalingOf } from './frequencies.ts';
import { multiAxisTypes } from './multi-axis.ts';
import { applyRotary, type RotaryTables, rotaryTables, rotaryTensors } from './rotary.ts';
import { scalings } from './scaling/index.ts';
import type { Frequencies, RopeScaling } from './scaling/scaling.ts';

/**
 * RoPE with further scalings beside the built-in ones. Scalings are plain values, nothing is registered globally:
 *
 *     const registry = createRegistry([createRope([myScaling])]);
 *
 * Throws PosencError when two share a name.
 */
export function createRope<Extra extends RopeScaling = never>(
  extra: readonly Extra[] = [],
): PositionalEncoding<'rope', RopeConfig<Extra>> {
  const choices: readonly RopeScaling[] = [...scalings, ...extra];
  const names = choices.map(({ options }) => options.shape.type.value);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice) throw new PosencError(`rope: two scalings are called "${twice}": each needs a name of its own`);
  return defineEncoding({
    contract: 1,
    type: 'rope',
    reference:
      'Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021, https://arxiv.org/abs/2104.09864',
    equation: 's_ij = ⟨R(p_i) q_i, R(p_j) k_j⟩ · scoreScale;  R(p) turns pair k by p·θ_k,  θ_k = base^(−2k/r)',
    config: ropeSchema<Extra>(choices),
    notes: [
      'The paper pairs adjacent channels (interleaved); the default is half, as Llama, Mistral, Qwen and GPT-NeoX are in Hugging Face. GPT-J, Cohere and Meta’s own Llama files are interleaved. Weights of one read with the other are wrong.',
      'All channels turn by default, as in the paper. GPT-NeoX, Pythia, StableLM and the length-generalisation study of Kazemnejad et al. 2023 turn only the first quarter, Phi and GLM half, GPT-J 64 of 256. Frequencies are spaced by the rotary width, not the head’s.',
      'base is 10000 in the paper; Llama 3 uses 500000, Qwen 2.5 and CodeLlama 1000000.',
      '"linear" is position interpolation (p/s). "ntk" keeps the fastest pair and divides the slowest by exactly s. "ntk-by-parts" is the authors’ first code, with an NTK part; the YaRN paper’s section of that name is "yarn" with attentionFactor 1.',
      '"dynamic" is Hugging Face’s formula; the YaRN paper’s rule of the same name is its case factor 1. Hugging Face remembers the longest sequence a model object has seen; here the length of each token’s own sequence decides, so results do not depend on earlier calls.',
      '"yarn" blends linearly in the index of a pair, as all code does; the paper’s formula is linear in its number of turns. attentionFactor replaces the factor that follows from s (YaRN’s own code multiplies by attn_factor instead). It multiplies cos and sin, so scores by its square.',
      'DeepSeek V2 and V3 and Mistral 4 give mscale and mscaleAllDim alike, so cos and sin are not scaled, and multiply scores by g(mscaleAllDim)² instead: scaleScores.',
      '"longrope" takes the long list for sequences longer than L0, and one attention factor at every length. Microsoft’s code also knows the factor 0.1 ln s + 1: give it as attentionFactor.',
      '"proportional" is spaced by the whole width and stops pairs, partialRotaryFactor (beside base) leaves channels out and is spaced by what is left.',
      'Keys are cached turned, so a decoding session keeps one sequence length from its first token; with "dynamic" and "longrope" a cache filled under another length would be wrong.',
      'An odd rotary width is refused: Hugging Face turns one channel more than asked, with the odd number in the exponents.',
    ],
    notBuilt: multiAxisTypes,
    create(config, { headDim }) {
      const scaling = scalingOf(config, choices);
      const { readsSeqLen } = scaling;
      const scale = scaling.scoreFactor?.(config.scaling) ?? 1;
      const frequencies = (seqLen?: number) => scaledFrequencies(config, choices, { headDim, seqLen });
      const trained = frequencies(); // refuses an impossible width before any model is built
      const trainedTables = keepLast((query) => rotaryTables(query, trained));
      const tablesAt = ({ query, seqLen }: Positions): RotaryTables =>
        readsSeqLen ? tablesBySeqLen(query, seqLen, frequencies) : trainedTables(query);
      return encoding({
        traits: {
          maxPosition: Number.POSITIVE_INFINITY,
          shiftInvariant: true,
          requiresCausal: false,
          readsPositions: true,
          readsSeqLen,
        },
        params: {},
        hooks: () => (positions) => {
          const tensors = rotaryTensors(tablesAt(positions));
          return {
            layer: () => ({
              rotate: (u) => applyRotary(u, tensors, config.pairing),
              ...(scale !== 1 && { scale }),
            }),
          };
        },
      });
    },
    tables(config, { headDim }) {
      const scaling = scalingOf(config, choices);
      const lengths = scaling.showAt?.(config.scaling) ?? [undefined];
      const single = (name: string, value: number): NamedTable[] =>
        value === 1 ? [] : [{ name, quantity: 'value', axes: [], shape: [], data: [value] }];
      const { attentionFactor } = scaledFrequencies(config, choices, { headDim });
      const perLength = lengths.flatMap((seqLen): NamedTable[] => {
        const { invFreq } = scaledFrequencies(config, choices, { headDim, seqLen });
        const where = seqLen === undefined ? '' : ` at sequence length ${seqLen}`;
        const perPair = { axes: ['pair'], shape: [invFreq.length] };
        return [
          { name: `inverse frequency${where}`, quantity: 'frequency', ...perPair, data: invFreq },
          {
            name: `wavelength in positions${where}`,
            quantity: 'value',
            ...perPair,
            data: invFreq.map((f) => (2 * Math.PI) / f),
          },
        ];
      });
      return [
        ...perLength,
        ...single('attention factor, on cos and sin', attentionFactor),
        ...single('factor on the scores', scaling.scoreFactor?.(config.scaling) ?? 1),
      ];
    },
  });
}

/** RoPE with the built-in scalings. Su et al. 2021, https://arxiv.org/abs/2104.09864. */
export const rope = createRope();

/** Each token's frequencies follow the length of its own sequence: rows are told apart as soon as their lengths are. */
function tablesBySeqLen(query: Grid, seqLen: Grid, frequencies: (seqLen: number) => Frequencies): RotaryTables {
  const known = new Map<number, Frequencies>();
  const frequenciesFor = (length: number): Frequencies => {
    const found = known.get(length) ?? frequencies(length);
    known.set(length, found);
    return found;
  };
  const rows = Math.max(query.rows, seqLen.rows);
  const { cols } = query;
  const data = Int32Array.from({ length: rows * cols }, (_, i) => at(query, Math.floor(i / cols), i % cols));
  return rotaryTables({ rows, cols, data }, (row, column) => frequenciesFor(at(seqLen, row, column)));
}
