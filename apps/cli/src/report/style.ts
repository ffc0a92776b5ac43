/** The page's style sheet: light and dark, screen and paper, desk and phone. */
export const style = `
:root {
  color-scheme: light dark;
  --ground: #f6f7f9; --card: #ffffff; --ink: #1c2024; --faded: #57606a; --line: #d8dde3; --accent: #0a5cad;
  --lower: #075340; --higher: #8a3203; --code: #f0f2f5; --care: #fff8e6; --care-line: #e2b93b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171a; --card: #1d2125; --ink: #e6e9ec; --faded: #a4adb6; --line: #363c43; --accent: #7ab8f5;
    --lower: #7fe0bf; --higher: #ffbd92; --code: #14171a; --care: #2b2617; --care-line: #8a6d1c;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
}
main { max-width: 1120px; margin: 0 auto; padding: 40px 24px 64px; }
h1 { font-size: clamp(1.6rem, 4vw, 2.2rem); line-height: 1.2; margin: 0 0 12px; letter-spacing: -0.015em; text-wrap: balance; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 48px 0 12px; letter-spacing: -0.01em; }
p { margin: 0 0 12px; }
p, li { overflow-wrap: anywhere; }
p { max-width: 84ch; }
li { max-width: 100ch; }
a { color: var(--accent); }
.eyebrow { color: var(--faded); font-size: 0.85rem; margin: 0 0 6px; }
.lede { font-size: 1.06rem; }
.plate {
  background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 18px 22px; margin: 20px 0;
}
.plate h2 { margin: 0 0 10px; }
.care { background: var(--care); border-color: var(--care-line); font-size: 0.92rem; }
.care ul { margin: 0; padding-left: 1.2em; }
.care li { margin: 0 0 4px; }
.findings { margin: 0; padding: 0; list-style: none; }
.findings li { margin: 0 0 10px; }
.findings li:last-child { margin-bottom: 0; }
.findings li { display: grid; grid-template-columns: 210px 1fr; gap: 2px 18px; }
dl.facts { display: flex; flex-wrap: wrap; gap: 1px; margin: 20px 0; padding: 0;
  background: var(--line); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }
dl.facts div { flex: 1 1 auto; min-width: 88px; max-width: 100%; background: var(--card); padding: 10px 14px; display: flex; flex-direction: column; justify-content: space-between; }
dl.facts dt { color: var(--faded); font-size: 0.8rem; line-height: 1.3; }
dl.facts dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
figure { margin: 20px 0 28px; }
figure .wide, figure .narrow { background: #ffffff; border: 1px solid var(--line); border-radius: 10px; padding: 4px; }
figure svg { display: block; margin: 0 auto; }
figure .narrow { display: none; }
figcaption, caption { color: var(--faded); font-size: 0.88rem; line-height: 1.45; text-align: left; }
figcaption { margin-top: 8px; max-width: 110ch; }
caption { caption-side: top; padding: 0 0 10px; max-width: 110ch; }
.scroll { overflow-x: auto; margin: 12px 0; background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; }
.scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 0.94rem; }
th, td { text-align: right; padding: 7px 12px; border-top: 1px solid var(--line); vertical-align: top; white-space: nowrap; }
th[scope='row'], th.group, thead th:first-child { text-align: left; white-space: normal; }
th[scope='row'] { font-weight: 600; min-width: 150px; max-width: 300px; }
thead th { border-top: 0; border-bottom: 2px solid var(--line); font-weight: 600; vertical-align: bottom; }
.override th[scope='row'] { padding-left: 34px; font-weight: 500; }
.override th, .override td { border-top-style: dotted; }
tfoot th[scope='row'] { font-weight: 500; }
tfoot th.group { border-top: 2px solid var(--line); }
.note { display: block; color: var(--faded); font-size: 0.8rem; font-weight: 400; line-height: 1.35; }
td .note { white-space: normal; }
.size, .verdict { white-space: nowrap; }
.main td { border-left: 2px solid var(--card); }
.main td .note { color: var(--ink); opacity: 0.85; }
.main td .note.lower { color: var(--lower); opacity: 1; }
.main td .note.higher { color: var(--higher); opacity: 1; }
.lower .verdict, .higher .verdict { font-weight: 600; }
.lengths { table-layout: fixed; min-width: 720px; }
.lengths thead th:first-child { width: 24%; }
.group { color: var(--faded); font-size: 0.84rem; padding-top: 14px; }
.aside { text-align: left; color: var(--faded); }
.sd { color: var(--faded); font-size: 0.88em; }
.main td .sd { color: inherit; opacity: 0.85; }
.none { color: var(--faded); font-style: italic; }
.name { overflow-wrap: anywhere; }
.swatch { vertical-align: -1px; margin-right: 8px; background: #ffffff; border-radius: 3px; padding: 0 1px; }
details { margin: 12px 0; }
summary { cursor: pointer; font-weight: 600; padding: 6px 0; }
summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
pre, code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: 0.86rem; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 8px; padding: 12px 14px; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
.plain th, .plain td { text-align: left; white-space: normal; overflow-wrap: anywhere; }
footer { margin-top: 48px; color: var(--faded); font-size: 0.85rem; }
@media (max-width: 720px) {
  main { padding: 24px 14px 40px; }
  h2 { margin-top: 36px; }
  .plate { padding: 14px 16px; }
  .findings li { grid-template-columns: 1fr; }
  figure .wide { display: none; }
  figure .narrow { display: block; }
  figure svg { width: 100%; }
  .scroll { padding: 10px 0 10px 12px; }
  th, td { padding: 6px 8px; }
  th[scope='row'] { min-width: 116px; max-width: 150px; }
  .scroll th[scope='row'], .scroll thead th:first-child { position: sticky; left: 0; background: var(--card); z-index: 1; }
  .override th[scope='row'] { padding-left: 20px; }
  .swatch { display: block; margin: 2px 0; }
  caption, .group span { display: block; position: sticky; left: 12px; max-width: calc(100vw - 66px); white-space: normal; }
  caption { display: table-caption; }
}
@media print {
  :root {
    color-scheme: light;
    --ground: #ffffff; --card: #ffffff; --ink: #000000; --faded: #444444; --line: #bbbbbb; --accent: #000000;
    --lower: #075340; --higher: #8a3203; --code: #ffffff; --care: #ffffff;
  }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  h2 { break-after: avoid; }
  figure, tr, .plate { break-inside: avoid; }
  figure .wide { display: block; }
  figure .narrow { display: none; }
  .scroll { overflow: visible; border: 0; padding: 0; }
  table { font-size: 8.5pt; }
  th, td { padding: 4px 6px; }
  details::details-content { content-visibility: visible; display: block; height: auto; }
}
`;
