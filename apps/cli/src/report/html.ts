/** HTML as values that cannot be mixed up with text: whatever a template is given is escaped unless it is Html itself. */

export interface Html {
  readonly markup: string;
}

export type Content = Html | string | false | undefined | readonly Content[];

/** html`<b>${name}</b>`: strings are escaped, Html is kept, lists are joined, false and undefined leave nothing. */
export const html = (parts: TemplateStringsArray, ...contents: readonly Content[]): Html => ({
  markup: parts.reduce((text, part, i) => text + markupOf(contents[i - 1]) + part),
});

/** Markup made elsewhere, such as a figure. */
export const raw = (markup: string): Html => ({ markup });

export const join = (parts: readonly Content[], separator: Content): Html => ({
  markup: parts.map(markupOf).join(markupOf(separator)),
});

function markupOf(content: Content): string {
  if (content === undefined || content === false) return '';
  if (typeof content === 'string') return escapeHtml(content);
  return 'markup' in content ? content.markup : content.map(markupOf).join('');
}

/** Also replaces what HTML cannot hold: control characters but tab and line feed, and halves of surrogate pairs. */
export const escapeHtml = (text: string): string =>
  text
    .toWellFormed()
    .replace(/(?![\t\n])[\p{Cc}\p{Noncharacter_Code_Point}]/gu, '\ufffd')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;')
    .replace(/'/g, '&#39;');
