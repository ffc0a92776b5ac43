import { type Html, html } from './html.ts';

/** A wide table in a frame that scrolls sideways, by keyboard too; `name` tells screen readers which one it is. */
export const scrolling = (
  name: string,
  table: Html,
): Html => html`<section class="scroll" tabindex="0" aria-label="${name}">
${table}
</section>`;
