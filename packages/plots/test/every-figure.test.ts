import { readFileSync } from 'node:fs';
import { Resvg } from '@resvg/resvg-js';
import { describe, expect, it } from 'vitest';
import { gallery, shown } from '../examples/gallery.ts';
import { samples } from './samples.ts';
import { all, code, number, parse, textBoxes } from './svg.ts';

describe.each(Object.entries(samples))('%s', (_, draw) => {
  const svg = draw();
  const root = parse(svg);

  it('is an accessible, self-contained picture on white', () => {
    const id = (name: string) => all(root, name)[0]!.getAttribute('id')!;
    expect(root.getAttribute('role')).toBe('img');
    expect(root.getAttribute('aria-labelledby')).toBe(`${id('title')} ${id('desc')}`);
    expect(all(root, 'title')[0]!.textContent).not.toBe('');
    expect(all(root, 'desc')[0]!.textContent!.length).toBeGreaterThan(20);
    const first = all(root, 'rect')[0]!;
    expect([first.getAttribute('width'), first.getAttribute('height'), first.getAttribute('fill')]).toEqual([
      '100%',
      '100%',
      '#ffffff',
    ]);
    expect(svg.match(/<(script|style|foreignObject)\b|currentColor|href="(?!data:)|url\((?!#)/g)).toBeNull();
  });

  it('holds no broken number', () => {
    const values = [...code(svg).matchAll(/ (?!id|aria)[\w-]+="([^"]*)"/g)].map((m) => m[1]!);
    expect(values.length).toBeGreaterThan(20);
    expect(values.filter((v) => !v.startsWith('#') && /NaN|Infinity|undefined|null/.test(v))).toEqual([]);
  });

  it('is the same on every run', () => {
    expect(draw() === svg).toBe(true);
  });

  it('keeps every text inside the picture and off the others', () => {
    const [width, height] = [number(root, 'width'), number(root, 'height')];
    const boxes = textBoxes(svg);
    const outside = boxes.filter((b) => b.left < 0 || b.top < 0 || b.right > width || b.bottom > height);
    expect(outside).toEqual([]);
    const meets = boxes.flatMap((a, i) =>
      boxes
        .slice(0, i)
        .filter((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
        .map((b) => [a.text, b.text]),
    );
    expect(meets).toEqual([]);
  });

  it('renders: another program draws more than a white page', () => {
    const { pixels, width, height } = new Resvg(svg).render();
    expect([width, height]).toEqual([number(root, 'width'), number(root, 'height')]);
    let inked = 0;
    for (let i = 0; i < pixels.length; i += 4) if (pixels[i]! + pixels[i + 1]! + pixels[i + 2]! < 720) inked++;
    expect(inked).toBeGreaterThan(50);
    expect([...pixels.subarray(0, 4)]).toEqual([255, 255, 255, 255]);
  });
});

describe('the pictures of the README', () => {
  it.each(shown)('%s is what the code draws (else run examples/gallery.ts)', (name) => {
    const stored = readFileSync(new URL(`../examples/${name}.svg`, import.meta.url), 'utf8');
    expect(stored === gallery[name]!()).toBe(true);
  });
});

describe('several figures in one page', () => {
  it('share no id', () => {
    const ids = Object.values(samples).flatMap((draw) => [...draw().matchAll(/ id="([^"]+)"/g)].map((m) => m[1]));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(2 * Object.keys(samples).length);
  });

  it('of a sample gallery stay small', () => {
    for (const draw of Object.values(gallery)) expect(draw().length).toBeLessThan(40_000);
  });
});
