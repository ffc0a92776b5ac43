/** One self-contained page with everything `inspect` found: facts on top, then every picture with how to read it. */
import type { Dims } from '@posenc/core';
import { grouped } from '../ui/numbers.ts';
import type { Figure } from './figures/index.ts';
import { type Inspection, titleOf } from './inspection.ts';
import { holesText, initText, stackText, traitTexts } from './words.ts';

export interface Drawn extends Figure {
  readonly svg: string;
}

/** The page as HTML text; needs nothing else, not even its own SVG files. */
export function pageOf(inspection: Inspection, figures: readonly Drawn[]): string {
  const { config, dims, parts, params, paramCount } = inspection;
  const title = `Positional encoding: ${titleOf(inspection)}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(title)}</title>
<style>${style}</style>
<main>
<h1>${html(title)}</h1>
${parts.map((part) => `<p class="equation">${parts.length > 1 ? `<small>${html(part.name)}</small> ` : ''}${html(part.equation)}</p>`).join('\n')}
<dl>
<dt>Source</dt><dd>${parts.map((part) => linked(part.reference)).join('<br>')}</dd>
<dt>Fills</dt><dd>${html(holesText(inspection))}</dd>
<dt>Traits</dt><dd>${traitTexts(inspection.traits).map(html).join('<br>')}</dd>
<dt>Parameters</dt><dd>${paramCount === 0 ? 'none' : `${grouped(paramCount)}: ${params.map((p) => html(`${p.name} [${p.shape.join(', ')}], ${initText(p.init)}`)).join('; ')}`}</dd>
<dt>Shown in</dt><dd>${html(stackText(dims as Dims))}</dd>
<dt>Config</dt><dd><code>${html(JSON.stringify(config))}</code></dd>
</dl>
${notesOf(inspection)}
${figures.length ? '' : '<p>There is nothing to draw.</p>'}
${figures.map((f) => `<figure id="${f.name}">\n${f.svg}\n<figcaption>${html(f.caption)} <a href="${f.name}.svg">SVG</a></figcaption>\n</figure>`).join('\n')}
</main>
</html>
`;
}

function notesOf({ parts }: Inspection): string {
  const withNotes = parts.filter((part) => part.notes.length);
  if (withNotes.length === 0) return '';
  const lists = withNotes.map(
    (part) =>
      `${parts.length > 1 ? `<h3>${html(part.name)}</h3>` : ''}<ul>${part.notes.map((n) => `<li>${html(n)}</li>`).join('')}</ul>`,
  );
  return `<h2>Where paper and practice differ</h2>\n${lists.join('\n')}`;
}

const html = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);

const linked = (text: string): string =>
  html(text).replace(/https?:\/\/[^\s,;)]+/g, (url) => `<a href="${url}">${url}</a>`);

const style = `
body { margin: 0; font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; color: #1f2328; background: #fff; }
main { max-width: 760px; margin: 0 auto; padding: 24px 16px 64px; }
h1 { font-size: 26px; margin: 0 0 8px; } h2 { font-size: 19px; margin: 32px 0 8px; } h3 { font-size: 16px; margin: 16px 0 4px; }
.equation { font: 17px/1.5 'Cambria Math', 'STIX Two Math', Georgia, serif; background: #f6f8fa; padding: 10px 14px; margin: 8px 0; overflow-x: auto; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 6px 18px; margin: 16px 0; } dt { color: #59636e; } dd { margin: 0; overflow-wrap: anywhere; }
code { font-size: 14px; } li { margin: 4px 0; }
figure { margin: 40px 0 0; } figure svg { max-width: 100%; height: auto; display: block; } figcaption { color: #424a53; font-size: 15px; margin-top: 6px; padding: 0 16px; }
a { color: #0969da; }
`;
