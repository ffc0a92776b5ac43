/** Text without a layout engine: how wide it is at most, how to fit and wrap it. */

/**
 * Advance widths of DejaVu Sans in 1/100 em, rounded up: the widest of the fonts `system-ui` stands for, so that what fits
 * here fits everywhere. Characters not listed count 70, East Asian ones and emoji 110.
 */
const widths: Readonly<Record<number, string>> = {
  30: "'IJijl",
  35: ' ,./:;\\|·',
  40: '()-[]ft',
  45: '!r',
  50: '"*_`°',
  55: '?csz',
  60: 'FLkvxy',
  65: '$0123456789EPSTYabdeghnopqu{}λθπ',
  75: 'NUABCKRVXZ',
  85: '&DGHOQ#+<=>^w~−×±',
  90: 'M',
  100: '%@Wm…',
};

const widthOf = new Map(
  Object.entries(widths).flatMap(([width, characters]) => [...characters].map((c) => [c, Number(width)] as const)),
);
const wide =
  /\p{Extended_Pictographic}|[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]|[\u{20000}-\u{3ffff}]/u;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Upper estimate of the width of one line, px. */
export function textWidth(text: string, size: number, bold = false): number {
  let hundredths = 0;
  for (const { segment } of graphemes.segment(text)) {
    hundredths += widthOf.get(segment) ?? (wide.test(segment) ? 110 : 70);
  }
  return (hundredths / 100) * size * (bold ? 1.14 : 1);
}

/** Shortens text to `width` px with an ellipsis in the middle: names that share a beginning differ at their ends. */
export function fitText(text: string, width: number, size: number, bold = false): string {
  if (textWidth(text, size, bold) <= width) return text;
  const parts = [...graphemes.segment(text)].map(({ segment }) => segment);
  for (let kept = parts.length - 1; kept > 0; kept--) {
    const head = Math.ceil(kept / 2);
    const short = `${parts.slice(0, head).join('').trimEnd()}…${parts.slice(parts.length - (kept - head)).join('')}`;
    if (textWidth(short, size, bold) <= width) return short;
  }
  return '…';
}

/** Breaks text at spaces into at most `maxLines` lines of `width` px; what is left over goes into the last line, shortened. */
export function wrapText(text: string, width: number, size: number, maxLines: number, bold = false): string[] {
  const lines: string[] = [];
  let rest = text.split(/\s+/).filter(Boolean);
  while (rest.length > 0) {
    let taken = 1;
    while (taken < rest.length && textWidth(rest.slice(0, taken + 1).join(' '), size, bold) <= width) taken++;
    if (lines.length === maxLines - 1) taken = rest.length;
    lines.push(fitText(rest.slice(0, taken).join(' '), width, size, bold));
    rest = rest.slice(taken);
  }
  return lines;
}
