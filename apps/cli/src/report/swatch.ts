/** The colour and marker that a row has in every figure, small, beside its name. */
import { styleOf } from '@posenc/plots';
import { type Html, html } from './html.ts';
import { familyOf, type Reading, rowOf } from './reading.ts';

export function swatch(reading: Reading, name: string): Html {
  const { color, marker, dash } = styleOf(name, 0, { names: reading.names, variantOf: familyOf(rowOf(reading, name)) });
  return html`<svg class="swatch" width="24" height="12" viewBox="-12 -6 24 12" aria-hidden="true"><path d="M-12,0h24" stroke="${color}" stroke-width="2" stroke-dasharray="${dash ?? 'none'}"/><path d="${marker}" fill="${color}"/></svg>`;
}
