/** Golden cases whose frequencies this version does not compute, and why. Their cos and sin are checked all the same. */
const yarn = 'scaling "yarn" is not in this version';
const longrope = 'scaling "longrope" is not in this version';
const llama3 = 'scaling "llama3" is not in this version';
const proportional = 'scaling "proportional" is not in this version';
const odd =
  'an odd rotary width (⌊20 · 0.25⌋ = 5) is refused: Hugging Face turns six channels with 5 in the exponents, a quirk of truncation';

export const exclusions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'reference/rope-inv-freq': {
    'neox-odd-partial-0.25-d20': odd,
    'yarn-llama2-s16': yarn,
    'yarn-tiny-d32-L1024-s4': yarn,
    'qwen2.5-yarn-s4': yarn,
    'deepseek-v3': yarn,
    'gpt-oss': yarn,
    'gpt-oss-truncate-true': yarn,
    'yarn-attention_factor-0.75': yarn,
    'yarn-attention_factor-wins-over-mscale': yarn,
    'yarn-mscale-0.707-all-1': yarn,
    'yarn-mscale-only': yarn,
    'yarn-mscale_all_dim-only': yarn,
    'yarn-beta-16-2': yarn,
    'yarn-beta-64-0.5-untruncated': yarn,
    'yarn-factor-1': yarn,
    'yarn-factor-null-uses-mpe-over-L0': yarn,
    'yarn-high-below-low': yarn,
    'yarn-equal-bounds': yarn,
    'yarn-clamped-low-tiny': yarn,
    'yarn-partial-0.5': yarn,
    'phi3-longrope-short': longrope,
    'phi3-longrope-long': longrope,
    'phi3-longrope-factor-4': longrope,
    'phi3-longrope-attention_factor': longrope,
    'phi3-longrope-16k': longrope,
    'llama-3.1-8b': llama3,
    'llama-3.2-1b': llama3,
    'llama3-custom-bands': llama3,
    'gemma4-full-proportional': proportional,
    'proportional-0.5-factor-2': proportional,
    'proportional-0.3-d20': proportional,
    'proportional-1.0': proportional,
    'longrope-history-L0-16': longrope,
  },
  'reference/rope-apply': {
    'gpt-neox-half-partial-0.25-d20': odd,
    'deepseek-v3-interleaved-in-half-out-d8': yarn,
    'gpt-oss-half-d8': yarn,
    'gemma4-proportional-0.25-d16': proportional,
  },
  'reference/ntk-aware': {},
  'published/hf-rope-scaling-invfreq': { yarn, llama3, longrope },
  'published/fairseq-rope-relshift': {
    rel_shift: 'the index shift of Transformer-XL’s relative attention, not a rotation',
  },
};
