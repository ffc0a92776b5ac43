import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Comparison, TrialResult } from '@posenc/training';
import { describe, expect, it } from 'vitest';
import { posenc, suite, suiteFolder } from './trials-harness.ts';

const numbers = (trials: readonly TrialResult[]) => trials.map(({ timing: _, ...rest }) => rest);
const resultsIn = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'runs', 'tiny', 'results.json'), 'utf8')) as Comparison;

describe('posenc compare', () => {
  it('trains, evaluates, reports; takes an unfinished run up; never runs a finished trial again', async () => {
    const folder = suiteFolder();
    const dry = await posenc(folder, 'compare', 'suite.json', '--dry-run');
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    expect(dry.stdout).toMatch(/encoding +seed +parameters +its own +tokens +about +trial\nnope +1 +\d,\d{3} +0 +768 /);
    expect(dry.stdout).toMatch(/tiny: 2 trials, 0 finished, \d+ at a time; about .* \(simd (relaxed|plain)\)/);
    expect(readdirSync(folder).sort()).toEqual(['suite.json', 'verse.txt']);

    const first = await posenc(folder, 'compare', 'suite.json');
    expect(first.code).toBe(0);
    expect(first.stdout).toMatch(/nope +\d\.\d{3}/);
    expect(first.stdout.trimEnd().split('\n').at(-1)).toBe(`Report: ${join('runs', 'tiny', 'report.html')}`);
    expect(first.stderr.match(/^\[[12]\/2\] .*, seed 1: loss \d\.\d{3} at 1×/gm)).toHaveLength(2);
    const run = join(folder, 'runs', 'tiny');
    expect(readdirSync(run).sort()).toEqual(['report.html', 'resolved.json', 'results.json', 'trials']);
    const before = resultsIn(folder);
    expect(before.rows.map((row) => row.name)).toEqual(['nope', 'RoPE', 'RoPE + PI']);
    expect(before.environment).toMatchObject({
      backend: expect.stringMatching(/^simd (relaxed|plain)$/),
      node: process.version,
      commit: null,
      versions: { '@posenc/core': expect.any(String) },
    });
    expect(readFileSync(join(run, 'report.html'), 'utf8')).toContain('RoPE + PI');

    const [trial] = readdirSync(join(run, 'trials')).filter((name) => name.startsWith('rope-seed1'));
    expect(readdirSync(join(run, 'trials', trial!)).sort()).toEqual([
      'checkpoints',
      'metrics.jsonl',
      'result.json',
      'trial.json',
    ]);

    const refused = await posenc(folder, 'compare', 'suite.json');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain(
      '"runs/tiny" already holds a run (2 of these 2 trials finished): --resume goes on with it',
    );

    rmSync(join(run, 'trials', trial!), { recursive: true });
    const resumed = await posenc(folder, 'compare', 'suite.json', '--resume', '--json');
    expect(resumed.stderr.match(/^\[/gm)).toHaveLength(1);
    expect(numbers((JSON.parse(resumed.stdout) as Comparison).trials)).toEqual(numbers(before.trials));
  });

  it('shows trials of another config as stale', async () => {
    const folder = suiteFolder({ encodings: suite.encodings.slice(0, 1) });
    await posenc(folder, 'compare', 'suite.json');
    writeFileSync(
      join(folder, 'suite.json'),
      JSON.stringify({ ...suite, encodings: suite.encodings.slice(0, 1), training: { ...suite.training, steps: 13 } }),
    );
    const second = await posenc(folder, 'compare', 'suite.json', '--resume');
    expect(second.stderr).toMatch(
      /stale, not used \(another config, data or version\): runs\/tiny\/trials\/nope-seed1-[0-9a-f]{12}/,
    );
    expect(resultsIn(folder).trials[0]!.steps).toBe(13);
  });

  it.each<[string, object, RegExp]>([
    ['a misspelt key', { seed: [1] }, /suite\.json: unknown key "seed": did you mean "seeds"\?/],
    ['an odd rotary width', { encodings: [{ encoding: { type: 'rope', rotaryDim: 3 } }] }, /rotaryDim|rotary/],
    [
      'heads that do not divide',
      { model: { ...suite.model, numHeads: 3 } },
      /modelDim 16 is not divisible by numHeads 3/,
    ],
    ['no layers', { model: { ...suite.model, numLayers: 0 } }, /"numLayers" is 0/],
    [
      'a missing text',
      { task: { type: 'text', file: 'gone.txt' } },
      /cannot read the text ".*gone\.txt": no such file/,
    ],
    ['a text too short', { training: { ...suite.training, length: 4000 } }, /evaluation part of .*verse\.txt/],
    [
      'a longer sequence than the table',
      { encodings: [{ encoding: { type: 'learned', numPositions: 8 } }] },
      /training length 16 is beyond this encoding, which ends at position 7/,
    ],
  ])('refuses %s before it writes anything', async (_, changes, message) => {
    const folder = suiteFolder(changes);
    const { code, stdout, stderr } = await posenc(folder, 'compare', 'suite.json');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('    at ');
    expect(existsSync(join(folder, 'runs'))).toBe(false);
  });
});

describe('posenc train, eval, generate', () => {
  it('train a run, evaluate it elsewhere, and write text with it', async () => {
    const folder = suiteFolder();
    const { encodings: _, seeds: __, ...rest } = suite;
    writeFileSync(join(folder, 'run.json'), JSON.stringify({ ...rest, name: 'run', encoding: { type: 'rope' } }));
    const trained = await posenc(folder, 'train', 'run.json');
    expect(trained.code).toBe(0);
    expect(trained.stdout).toMatch(/1× \(16\) +2× \(32\)\nrope +\d\.\d{3} \(\d+\.\d %\)/);
    expect((await posenc(folder, 'train', 'run.json')).stderr).toMatch(/"runs\/run" already holds a run: --resume/);

    const lengths = async (...options: string[]) => {
      const { stdout } = await posenc(folder, 'eval', 'runs/run', '--json', ...options);
      return (JSON.parse(stdout) as { lengths: { length: number; score: { loss: number } }[] }).lengths;
    };
    const result = JSON.parse(readFileSync(join(folder, 'runs', 'run', 'result.json'), 'utf8')) as TrialResult;
    expect(await lengths()).toEqual(result.evaluations[0]!.lengths);
    const stretched = await lengths(
      '--multiples',
      '2',
      '--encoding',
      '{"type":"rope","scaling":{"type":"linear","factor":"auto"}}',
    );
    expect(stretched.map((l) => l.length)).toEqual([32]);
    expect(stretched[0]!.score.loss).not.toBe(result.evaluations[0]!.lengths[1]!.score!.loss);

    expect(await lengths('--encoding', 'alibi')).toEqual(await lengths('--encoding', '{"type":"alibi"}'));
    expect((await posenc(folder, 'eval', 'runs/run', '--encoding', 'alibbi')).stderr).toMatch(/did you mean "alibi"/);

    const write = (...options: string[]) =>
      posenc(folder, 'generate', 'runs/run', '--prompt', 'thou', '--tokens', '12', ...options);
    const text = (await write()).stdout;
    expect(text).toMatch(/^thou.{12}\n$/s);
    expect((await write()).stdout).toBe(text);
    expect((await write('--seed', '2')).stdout).not.toBe(text);
    const greedy = JSON.parse((await write('--temperature', '0', '--json')).stdout) as { text: string };
    expect((await write('--temperature', '0', '--grow')).stdout).toBe(`thou${greedy.text}\n`);
    expect((await write('--prompt', 'Ωmega')).stderr).toMatch(/Ω/);
    expect((await write('--prompt', 'a'.repeat(100_000))).stderr).toMatch(
      /the prompt has 100000 tokens, .* GiB a layer/,
    );
    expect((await posenc(folder, 'eval', 'runs/none')).stderr).toMatch(/no trained run: it has no trial\.json/);
    expect(
      (await posenc(folder, 'eval', 'runs/run', '--encoding', '{"type":"learned","numPositions":9}')).stderr,
    ).toMatch(/other parameters than the trained one/);

    const [newest] = readdirSync(join(folder, 'runs', 'run', 'checkpoints')).filter((name) =>
      name.endsWith('.safetensors'),
    );
    writeFileSync(join(folder, 'runs', 'run', 'checkpoints', newest!), 'not tensors');
    const corrupt = await write();
    expect(corrupt.code).toBe(1);
    expect(corrupt.stderr).toMatch(/SHA-256 is another; one of the two was damaged/);
  });

  it('do so with a task of problems, of which exact match is the score', async () => {
    const folder = suiteFolder();
    const { encodings: _, seeds: __, ...rest } = suite;
    const task = { type: 'reversal', digits: 4 };
    writeFileSync(join(folder, 'run.json'), JSON.stringify({ ...rest, task, name: 'run', encoding: { type: 'rope' } }));
    const trained = await posenc(folder, 'train', 'run.json');
    expect(trained.stdout).toMatch(
      /1× \(up to 4 digits\) +2× \(5–8 digits\)\nrope +\d+\.\d % \(\d\.\d{3}, \d+\.\d %\)/,
    );
    const evaluated = await posenc(folder, 'eval', 'runs/run', '--json');
    const { lengths } = JSON.parse(evaluated.stdout) as { lengths: { score: { exactMatch: number } }[] };
    const result = JSON.parse(readFileSync(join(folder, 'runs', 'run', 'result.json'), 'utf8')) as TrialResult;
    expect(lengths).toEqual(result.evaluations[0]!.lengths);
    for (const { score } of lengths) expect([0, 0.25, 0.5, 0.75, 1]).toContain(score.exactMatch);
    const written = await posenc(folder, 'generate', 'runs/run', '--prompt', 'rev(12)=', '--tokens', '3');
    expect(written).toMatchObject({ code: 0, stdout: expect.stringMatching(/^rev\(12\)=[0-9rev()=\n]{3}\n$/) });
  });
});
