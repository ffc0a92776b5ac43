/** What must be reached is compared with what was measured, pair by pair, and nothing that is missing counts as reached. */
import type { BenchDocument } from 'posenc/bench';
import { describe, expect, it } from 'vitest';
import { newest } from '../src/results.ts';
import { reaches, type Target, targetCells, targetRows, targetsOf, targetsText } from '../src/targets.ts';

const document = newest();
const find = (targets: readonly Target[], measure: RegExp) => targets.filter((target) => measure.test(target.measure));

type StepPart = NonNullable<BenchDocument['standardStep']>;

/** The newest result with other rounds of the standard step. */
function withRounds(rounds: Readonly<Record<string, readonly number[]>>): BenchDocument {
  const contenders = document.standardStep.contenders.flatMap((c): StepPart['contenders'] => {
    const own = rounds[`${c.name}, ${c.threads}`];
    return c.status === 'measured' && own ? [{ ...c, rounds: [...own] }] : [];
  });
  return { ...document, standardStep: { ...document.standardStep, contenders } };
}

describe('the table of targets', () => {
  it('has the bounds of the design', () => {
    const bounds = targetsOf(document).map(({ measure, mustReach }) => [measure.split(',')[0], mustReach]);
    expect(bounds).toEqual([
      ['standard step against stock tfjs-wasm', { least: 20 }],
      ['standard step against jax-js', { least: 3 }],
      ['standard step against PyTorch eager', { most: 1.25 }],
      ['standard step against PyTorch eager', { most: 1.25 }],
      ['matrix product 512³ against PyTorch held to AVX2', { least: 0.9 }],
      ...[1024, 2048].flatMap((length) => Array(3).fill([`training step at ${length} tokens`, { most: 1.15 }])),
      ["attention's memory each time the length doubles", { most: 2.05 }],
      ['cached decoding over recomputing', { least: 3.5 }],
    ]);
  });

  it('pairs rounds, and as many threads of ours with as many of PyTorch', () => {
    const targets = targetsOf(
      withRounds({
        'simd, 1': [3, 3, 3],
        'simd, 2': [2, 4, 2],
        'PyTorch CPU, eager, 1': [2, 2, 2],
        'PyTorch CPU, eager, 2': [1, 4, 2],
        'TensorFlow.js wasm, stock, 1': [40, 120],
        '@jax-js/jax, 1': [4, 8, 5],
      }),
    );
    const [wasm, jax, one, two] = targets.map(({ measured }) => measured);
    expect(wasm).toEqual({ median: 25, min: 20, max: 30, n: 2 });
    expect(jax).toEqual({ median: 2, min: 2, max: 2.5, n: 3 });
    expect(one).toEqual({ median: 1.5, min: 1.5, max: 1.5, n: 3 });
    expect(two).toEqual({ median: 1, min: 1, max: 2, n: 3 });
    expect(targets.slice(0, 4).map(reaches)).toEqual([true, false, false, true]);
    expect(targets.slice(0, 4).map((target) => targetCells(target)[3])).toEqual([
      'reached',
      'missed by 33 %',
      'missed by 20 %',
      'reached',
    ]);
  });

  it('says what is missing instead of a verdict', () => {
    const steps = withRounds({ 'simd, 2': [1], '@jax-js/jax, 1': [4] });
    const [name, reason] = ['PyTorch CPU, eager', 'python3 cannot import torch: none\nmore'];
    steps.standardStep!.contenders.push({ name, kind: 'rival', threads: 2, status: 'absent', reason });
    const [wasm, , torch] = targetsOf({ ...steps, training: null, products: null });
    expect(targetCells(wasm!)[3]).toBe('TensorFlow.js wasm, stock, 1 thread did not take part');
    expect(targetCells(torch!)[3]).toBe('PyTorch CPU, eager is absent: python3 cannot import torch: none');
    const bare = { ...document, standardStep: null, attention: null, products: null, training: null, decoding: null };
    const targets = targetsOf(bare);
    expect(targets.map(reaches)).toEqual(targets.map(() => undefined));
    expect(targetsText(bare)).toBe('');
    const lines = targetsText({ ...bare, products: document.products })
      .trim()
      .split('\n');
    expect(lines.slice(2).map((line) => line.slice(0, 14))).toEqual(['matrix product']);
  });

  it('finds the memory of attention where it grows most', () => {
    const [simd] = document.attention.contenders.filter((c) => c.name === 'simd');
    const bytes = [100, 200, 700, 1400, 2800];
    const cells = simd!.cells.map((cell, i) => (cell.status === 'measured' ? { ...cell, peakBytes: bytes[i]! } : cell));
    const attention = { ...document.attention, contenders: [{ ...simd!, cells }] };
    const [memory] = find(targetsOf({ ...document, attention }), /memory/);
    expect(memory!.measured).toMatchObject({ median: 3.5 });
    expect(reaches(memory!)).toBe(false);
  });

  it('says so when others were busy', () => {
    const at = (median: number): BenchDocument => ({
      ...document,
      machine: { ...document.machine, otherCores: { median, min: 0, max: 2, n: 9 } },
    });
    expect(targetRows(at(1)).filter((row) => !row[3]!.endsWith(', under load'))).toEqual([]);
    expect(targetRows(at(0)).filter((row) => row[3]!.endsWith(', under load'))).toEqual([]);
    expect(targetRows({ ...at(1), training: null })[5]![3]).toBe('not measured');
  });

  it('is a table with a verdict in every line', () => {
    const lines = targetsText(document).trim().split('\n').slice(2);
    expect(lines).toHaveLength(targetsOf(document).length);
    for (const line of lines) expect(line).toMatch(/(reached|missed by \d+ %)(, under load)?$/);
  });
});
