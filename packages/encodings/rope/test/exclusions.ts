/** Golden cases that are not run, and why. */
const odd =
  'an odd rotary width (⌊20 · 0.25⌋ = 5) is refused: Hugging Face turns six channels with 5 in the exponents, a quirk of truncation';

export const exclusions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'reference/rope-inv-freq': { 'neox-odd-partial-0.25-d20': odd },
  'reference/rope-apply': { 'gpt-neox-half-partial-0.25-d20': odd },
  'reference/ntk-aware': {},
  'reference/authors-frequencies': {},
  'reference/no-rope-layers': {},
  'published/hf-rope-scaling-invfreq': {},
  'published/fairseq-rope-relshift': {
    rel_shift: 'the index shift of Transformer-XL’s relative attention, not a rotation',
  },
};
