import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cli } from './cli.ts';

const suites = fileURLToPath(new URL('../suites/', import.meta.url));
function folder(config: object): string {
  const path = mkdtempSync(join(tmpdir(), 'posenc lint '));
  onTestFinished(() => rmSync(path, { recursive: true }));
  mkdirSync(join(path, 'model'));
  writeFileSync(join(path, 'model', 'config.json'), JSON.stringify(config));
  return path;
}

describe('posenc lint', () => {
  it('reads a Hugging Face folder, and fails for errors only, unless strict', async () => {
    const warned = { cwd: folder({ rope_scaling: { rope_type: 'linear', factor: 2, attn_factor: 1 } }) };
    expect(await cli(['lint', 'model'], warned)).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('warning rope_scaling.attn_factor (attn-factor)'),
    });
    expect((await cli(['lint', 'model', '--strict'], warned)).code).toBe(1);
    const wrong = { cwd: folder({ rope_scaling: { rope_type: 'linear', factor: 0.5 } }) };
    const { code, out, err } = await cli(['lint', 'model/config.json'], wrong);
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toMatch(
      /^error rope_scaling\.factor \(factor-below-one\)\n {2}0\.5 is below 1: .*\n {2}prevents a context that shrinks/,
    );
    expect(out.trimEnd().split('\n').at(-1)).toBe('model/config.json: 1 error');
    const { findings } = JSON.parse((await cli(['lint', 'model', '--json'], wrong)).out) as {
      findings: { rule: string }[];
    };
    expect(findings.map((finding) => finding.rule)).toEqual(['factor-below-one']);
  });

  it('reads a suite, entry by entry; the demo’s has nothing wrong', async () => {
    const { code, out } = await cli(['lint', 'demo.json', '--strict'], { cwd: suites });
    expect({ code, out }).toEqual({ code: 0, out: 'demo.json: nothing to remark\n' });
    const cwd = folder({
      name: 'loud',
      task: { type: 'text', file: 'x.txt' },
      model: { modelDim: 64, numLayers: 1, numHeads: 2 },
      training: { length: 16, steps: 1 },
      encodings: [{ name: 'waves', encoding: { type: 'sinusoidal' } }],
    });
    const loud = await cli(['lint', 'model/config.json'], { cwd });
    expect(loud.out).toMatch(
      /^warning "waves": model\.embeddingScale \(amplitude\)\n {2}position vectors are \d+ times as long/,
    );
  });

  it('lists its rules, and says what to give it', async () => {
    expect((await cli(['lint', '--rules'])).out).toMatch(
      /config\.json\n {2}unknown-rope-type +a scaling that is silently not applied/,
    );
    expect(await cli(['lint'])).toMatchObject({ code: 1, err: expect.stringContaining('nothing to look at') });
    expect(await cli(['lint', 'gone'])).toMatchObject({ code: 1, err: expect.stringContaining('gone') });
  });
});
