import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PosencError } from '@posenc/core';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import {
  encodeSafetensors,
  type HostTensor,
  parseSafetensors,
  readSafetensors,
  writeSafetensors,
} from '../src/index.ts';

const golden = (name: string) => join(import.meta.dirname, '../golden', name);
const folder = mkdtempSync(join(tmpdir(), 'posenc safetensors '));
afterAll(() => rmSync(folder, { recursive: true }));

const f32 = (shape: number[], ...values: number[]): HostTensor => ({
  dtype: 'F32',
  shape,
  data: Float32Array.from(values),
});

/** A file with this header text, padded to `length` if given, and data. */
function file(header: string, data: Uint8Array = new Uint8Array(0), length?: number): Uint8Array {
  const text = Buffer.from(header);
  const start = Buffer.alloc(8);
  start.writeBigUInt64LE(BigInt(length ?? text.length));
  return new Uint8Array(Buffer.concat([start, text, data]));
}

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(PosencError);
    return (error as PosencError).message;
  }
  throw new Error('nothing was thrown');
}

describe('reading what the reference implementation wrote', () => {
  test('a Hugging Face model: names, shapes, bits and sums', () => {
    const expected = JSON.parse(readFileSync(golden('falcon-rotary.json'), 'utf8')) as Record<
      string,
      { shape: number[]; sha256: string; first: number[]; sum: number }
    >;
    const { tensors, metadata } = readSafetensors(golden('falcon-rotary.safetensors'));
    expect(metadata).toEqual({ format: 'pt' });
    expect([...tensors.keys()].sort()).toEqual(Object.keys(expected).sort());
    for (const [name, { dtype, shape, data }] of tensors) {
      const want = expected[name]!;
      expect(dtype).toBe('F32');
      expect(shape).toEqual(want.shape);
      const values = data as Float32Array;
      expect(createHash('sha256').update(values).digest('hex')).toBe(want.sha256);
      expect([...values.subarray(0, 4)]).toEqual(want.first);
      expect(values.reduce((sum, x) => sum + x, 0)).toBeCloseTo(want.sum, 9);
    }
  });

  test('every dtype, edge values, a scalar, an empty tensor, a name that needs escapes', () => {
    const expected = JSON.parse(readFileSync(golden('dtypes.json'), 'utf8')) as Record<
      string,
      { dtype: string; shape: number[]; values: (number | string)[] }
    >;
    const { tensors, metadata } = readSafetensors(golden('dtypes.safetensors'));
    expect(metadata).toEqual({ 'made by': 'safetensors 0.8.0' });
    expect(tensors.size).toBe(Object.keys(expected).length);
    const words: Record<string, number> = { '-0': -0, inf: Number.POSITIVE_INFINITY, '-inf': Number.NEGATIVE_INFINITY };
    for (const [name, { dtype, shape, values }] of Object.entries(expected)) {
      const tensor = tensors.get(name)!;
      expect([tensor.dtype, tensor.shape]).toEqual([dtype, shape]);
      const wanted = values.map((v) => (dtype === 'I64' ? BigInt(v) : typeof v === 'string' ? words[v] : v));
      expect([...tensor.data]).toEqual(wanted);
    }
  });
});

describe('writing', () => {
  test('gives byte for byte what the reference implementation writes', () => {
    const tensors: [string, HostTensor][] = [
      ['é', { dtype: 'U8', shape: [1], data: Uint8Array.of(9) }],
      ['2', f32([1], 5)],
      ['b', { dtype: 'I32', shape: [2], data: Int32Array.of(1, 2) }],
      ['z', { dtype: 'U8', shape: [1], data: Uint8Array.of(3) }],
      ['a', f32([1, 1], 1.5)],
      ['10', f32([1], 4)],
      ['c', { dtype: 'F64', shape: [1], data: Float64Array.of(2.25) }],
    ];
    expect(Buffer.from(encodeSafetensors(tensors, { format: 'np' }))).toEqual(
      readFileSync(golden('written.safetensors')),
    );
  });

  test('a model read and written again is the same file', () => {
    const { tensors, metadata } = readSafetensors(golden('falcon-rotary.safetensors'));
    const copy = join(folder, 'copy.safetensors');
    writeSafetensors(copy, tensors, metadata);
    expect(readFileSync(copy).equals(readFileSync(golden('falcon-rotary.safetensors')))).toBe(true);
  });

  test('keeps every bit: NaN payloads, subnormals, views into larger buffers, any name', () => {
    const bytes = fc.uint8Array({ minLength: 0, maxLength: 64 });
    const tensor = fc.oneof(
      bytes.map((b) => ({ dtype: 'U8' as const, shape: [b.length], data: b })),
      bytes.map((b) => ({ dtype: 'BOOL' as const, shape: [b.length], data: b.map((x) => x & 1) })),
      bytes.map((b) => ({
        dtype: 'I64' as const,
        shape: [b.length >> 3],
        data: new BigInt64Array(b.slice(0, b.length & ~7).buffer),
      })),
      bytes.map((b) => ({
        dtype: 'F32' as const,
        shape: [b.length >> 2, 1],
        data: new Float32Array(b.slice(0, b.length & ~3).buffer),
      })),
      bytes.map((b) => ({
        dtype: 'F64' as const,
        shape: [1, b.length >> 3],
        data: new Float64Array(b.slice(0, b.length & ~7).buffer),
      })),
      bytes.map((b) => ({
        dtype: 'I32' as const,
        shape: [b.length >> 2],
        data: new Int32Array(b.slice(0, b.length & ~3).buffer),
      })),
    );
    const name = fc
      .oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', 'constructor', '0', ''))
      .filter((n) => n !== '__metadata__');
    const named = fc.uniqueArray(fc.tuple(name, tensor), { selector: ([n]) => n, maxLength: 6 });
    const meta = fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true, maxKeys: 3 });
    const raw = (t: { data: ArrayBufferView }) =>
      Buffer.from(t.data.buffer, t.data.byteOffset, t.data.byteLength).toString('hex');
    fc.assert(
      fc.property(named, meta, (tensors, metadata) => {
        const padded = new Uint8Array(Buffer.concat([Buffer.alloc(3), encodeSafetensors(tensors, metadata)]));
        const back = parseSafetensors(padded.subarray(3));
        expect(back.metadata).toEqual(metadata);
        expect(back.tensors.size).toBe(tensors.length);
        for (const [n, t] of tensors) {
          const got = back.tensors.get(n)!;
          expect([got.dtype, got.shape, raw(got)]).toEqual([t.dtype, t.shape, raw(t)]);
        }
      }),
      { numRuns: 300, seed: 1 },
    );
  });

  test('writes only the view of a larger buffer', () => {
    const data = Float32Array.of(0, 1, 2, 3).subarray(1, 3);
    expect([
      ...parseSafetensors(encodeSafetensors([['x', { dtype: 'F32', shape: [2], data }]])).tensors.get('x')!.data,
    ]).toEqual([1, 2]);
  });

  test.each<[string, [string, HostTensor][], string]>([
    [
      'a name twice',
      [
        ['x', f32([1], 1)],
        ['x', f32([1], 2)],
      ],
      'two tensors are called "x"',
    ],
    ['the reserved name', [['__metadata__', f32([1], 1)]], 'cannot be called "__metadata__"'],
    ['half a surrogate pair', [['\ud800', f32([1], 1)]], 'cannot be called'],
    ['a shape of another size', [['x', f32([2, 2], 1)]], 'tensor "x" has shape [2,2] of F32, but 1 values of 4 bytes'],
    [
      'data of another type',
      [['x', { dtype: 'F32', shape: [1], data: Float64Array.of(1) } as unknown as HostTensor]],
      '1 values of 8 bytes',
    ],
    [
      'a dtype that is only read',
      [['x', { dtype: 'F16', shape: [1], data: Float32Array.of(1) } as unknown as HostTensor]],
      'convert it to one of BOOL, U8, I32, F32, F64, I64',
    ],
  ])('refuses %s', (_, tensors, message) => {
    expect(messageOf(() => encodeSafetensors(tensors))).toContain(message);
  });
});

const one = '{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}';
const four = new Uint8Array(4);
const entry = (fields: string) => file(`{"x":{${fields}}}`, four);

describe('one message for each kind of damage', () => {
  test.each<[string, Uint8Array, string]>([
    ['nothing', new Uint8Array(0), 'it is empty'],
    ['seven bytes', new Uint8Array(7), 'it has only 7 bytes'],
    ['cut in the header', file(one, four).subarray(0, 30), 'its header should be 54 bytes long, and only 22 follow'],
    [
      'cut in the data',
      file(one, four).subarray(0, 65),
      'it is truncated: its tensors take 4 bytes, and only 3 are there',
    ],
    ['a header longer than allowed', file('', four, 200_000_000), 'at most 100000000 are allowed'],
    ['a negative header length', new Uint8Array(64).fill(255), 'at most 100000000 are allowed'],
    ['a header of nothing', file('', four), 'does not start with "{"'],
    ['broken JSON', file('{"x":}'), 'its header is not JSON'],
    ['broken UTF-8', new Uint8Array([3, 0, 0, 0, 0, 0, 0, 0, 0x7b, 0xff, 0x7d]), 'its header is not JSON'],
    ['a name twice', file(`{${one.slice(1, -1)},${one.slice(1, -1)}}`, four), 'its header has the name "x" twice'],
    [
      'a name twice, one escaped',
      file(`{${one.slice(1, -1)},${one.slice(1, -1).replace('x', '\\u0078')}}`, four),
      'the name "x" twice',
    ],
    [
      'a key twice in a tensor',
      entry('"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]'),
      'the name "shape" twice',
    ],
    [
      'metadata of numbers',
      file('{"__metadata__":{"a":1}}'),
      '"__metadata__" in its header is not an object of strings',
    ],
    [
      'metadata that is a list',
      file('{"__metadata__":[]}'),
      '"__metadata__" in its header is not an object of strings',
    ],
    ['a tensor that is a number', file('{"x":3}'), 'tensor "x" is not described by a JSON object'],
    ['no dtype', entry('"shape":[1],"data_offsets":[0,4]'), 'tensor "x" has no "dtype"'],
    [
      'an unknown dtype',
      entry('"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]'),
      'dtype "F8_E4M3", which cannot be read; allowed: F64, F32, F16',
    ],
    [
      'a dtype of Object.prototype',
      entry('"dtype":"toString","shape":[4],"data_offsets":[0,4]'),
      'dtype "toString", which cannot be read',
    ],
    ['no shape', entry('"dtype":"F32","data_offsets":[0,4]'), 'no "shape" of integers'],
    ['a negative size', entry('"dtype":"F32","shape":[-1],"data_offsets":[0,4]'), 'no "shape" of integers'],
    ['a fractional size', entry('"dtype":"F32","shape":[1.5],"data_offsets":[0,4]'), 'no "shape" of integers'],
    ['three offsets', entry('"dtype":"F32","shape":[1],"data_offsets":[0,4,8]'), 'no "data_offsets" of two integers'],
    [
      'offsets backwards',
      entry('"dtype":"F32","shape":[1],"data_offsets":[4,0]'),
      'ends (at byte 0) before it begins (at 4)',
    ],
    [
      'offsets out of range',
      entry('"dtype":"F32","shape":[1],"data_offsets":[4,8]'),
      'begins at byte 4, but the header ends at 0',
    ],
    [
      'too many values',
      entry('"dtype":"F32","shape":[2],"data_offsets":[0,4]'),
      'which takes 8 bytes, but data_offsets give it 4',
    ],
    [
      'more values than there are atoms',
      entry('"dtype":"F32","shape":[9007199254740991,9007199254740991],"data_offsets":[0,4]'),
      'but data_offsets give it 4',
    ],
    [
      'a petabyte',
      entry('"dtype":"U8","shape":[1125899906842624],"data_offsets":[0,1125899906842624]'),
      'it is truncated',
    ],
    ['bytes left over', file(one, new Uint8Array(9)), '5 bytes follow after the last tensor'],
    [
      'an overlap',
      file(
        '{"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"y":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}',
        four,
      ),
      'tensor "y" begins at byte 2, but tensor "x" ends at 4: they overlap',
    ],
    [
      'a gap',
      file(
        '{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"y":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}',
        four,
      ),
      'tensor "y" begins at byte 2, but tensor "x" ends at 1: bytes in between belong to nothing',
    ],
  ])('%s', (_, bytes, message) => {
    const text = messageOf(() => parseSafetensors(bytes, 'model.safetensors'));
    expect(text).toContain('"model.safetensors"');
    expect(text).toContain(message);
    expect(text).not.toContain('\n');
  });

  test.each<[string, string | number[], string]>([
    ['a PyTorch zip', 'PK\x03\x04\x00\x00\x08\x08\x00\x00archive/data.pkl', 'a zip archive'],
    ['a PyTorch pickle', [0x80, 2, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9], 'a Python pickle'],
    ['GGUF', 'GGUF\x03\x00\x00\x00\x23\x01', 'a GGUF file'],
    ['HDF5', [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a], 'an HDF5 file'],
    ['NumPy', [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, 0x76, 0], 'a NumPy array'],
    ['HTML', '<!DOCTYPE html><title>404</title>', 'a web page'],
    ['HTML after a line break', '\n<HTML><body>', 'a web page'],
    ['a Git LFS pointer', 'version https://git-lfs.github.com/spec/v1\noid sha256:00', 'git lfs pull'],
    ['an index', '{\n  "weight_map": {}\n}', 'JSON text'],
    ['gzip', [0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 0, 3], 'gzip-compressed'],
  ])('another format: %s', (_, start, message) => {
    const bytes = Buffer.concat([
      typeof start === 'string' ? Buffer.from(start, 'latin1') : Buffer.from(start),
      Buffer.alloc(100, 'x'),
    ]);
    const text = messageOf(() => parseSafetensors(bytes, 'm'));
    expect(text).toContain('"m" is not a safetensors file but ');
    expect(text).toContain(message);
  });

  test('a cut file whose header length looks like "{" or a pickle is still called truncated', () => {
    expect(messageOf(() => parseSafetensors(file('{"', undefined, 0x7b)))).toContain('should be 123 bytes long');
    expect(messageOf(() => parseSafetensors(file('{"', undefined, 0x0280)))).toContain('should be 640 bytes long');
  });

  test('files that are missing, folders, devices', () => {
    expect(messageOf(() => readSafetensors(join(folder, 'none')))).toMatch(/cannot read ".*none": no such file/);
    expect(messageOf(() => readSafetensors(folder))).toContain('it is a folder; name a .safetensors file');
    expect(messageOf(() => readSafetensors('/dev/null'))).toContain('not a regular file');
    writeFileSync(join(folder, 'cut'), readFileSync(golden('falcon-rotary.safetensors')).subarray(0, 5000));
    expect(messageOf(() => readSafetensors(join(folder, 'cut')))).toMatch(
      /cut" is not a whole safetensors file: it is truncated.* download it again$/,
    );
  });

  test('a file with tensors of no bytes only is whole', () => {
    const { tensors } = parseSafetensors(
      file(
        '{"x":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"y":{"dtype":"U8","shape":[3,0],"data_offsets":[0,0]}}  ',
      ),
    );
    expect([...tensors.values()].map((t) => t.data.length)).toEqual([0, 0]);
    expect(parseSafetensors(file('{}')).tensors.size).toBe(0);
  });
});

describe('20,000 mutations of a whole file give tensors or one PosencError', () => {
  const whole = readFileSync(golden('dtypes.safetensors'));
  const headerLength = Number(whole.readBigUInt64LE(0));
  const position = fc.oneof(
    { weight: 1, arbitrary: fc.nat(7) },
    { weight: 8, arbitrary: fc.noBias(fc.integer({ min: 8, max: 7 + headerLength })) },
    { weight: 4, arbitrary: fc.noBias(fc.integer({ min: 8 + headerLength, max: whole.length - 1 })) },
  );
  const text = (s: string) => Uint8Array.from(Buffer.from(s));
  const byte = fc.oneof(fc.nat(255), fc.constantFrom(...text('{}[],:"\\0919eE-. ')));
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 12 }),
    fc.constantFrom('"x":{},', '0', '[', '9'.repeat(20)).map(text),
  );
  type Mutation = (b: Uint8Array) => Uint8Array[];
  const mutation: fc.Arbitrary<{ at: number; change: Mutation }> = fc.oneof(
    fc
      .tuple(position, byte)
      .map(([at, x]) => ({ at, change: (b: Uint8Array) => [b.slice(0, at), Uint8Array.of(x), b.slice(at + 1)] })),
    fc
      .tuple(position, fc.nat(40))
      .map(([at, n]) => ({ at, change: (b: Uint8Array) => [b.slice(0, at), b.slice(at + n)] })),
    fc.tuple(position, piece).map(([at, x]) => ({ at, change: (b: Uint8Array) => [b.slice(0, at), x, b.slice(at)] })),
    position.map((at) => ({ at, change: (b: Uint8Array) => [b.slice(0, at)] })),
    fc.tuple(position, position, fc.nat(80)).map(([at, from, n]) => ({
      at,
      change: (b: Uint8Array) => [b.slice(0, at), b.slice(from, from + n), b.slice(at)],
    })),
  );

  /** With `fixLength` the header's length follows an edit inside it: else every such edit would end at that one check. */
  function mutate(bytes: Uint8Array, { at, change }: { at: number; change: Mutation }, fixLength: boolean): Uint8Array {
    const out = Buffer.concat(change(bytes));
    if (fixLength && at >= 8 && at <= 8 + headerLength && out.length > 8)
      out.writeBigUInt64LE(BigInt(Math.max(0, headerLength + out.length - bytes.length)));
    return new Uint8Array(out);
  }

  test('in memory, without taking more memory than the file can fill', () => {
    const outcomes = new Map<string, number>();
    const before = process.memoryUsage().arrayBuffers;
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), fc.boolean(), (mutations, fixLength) => {
        const bytes = mutations.reduce<Uint8Array>((b, m) => mutate(b, m, fixLength), whole);
        let outcome = 'tensors';
        try {
          for (const { shape, data } of parseSafetensors(bytes, 'm').tensors.values())
            expect(shape.reduce((n, size) => n * size, 1)).toBe(data.length);
        } catch (error) {
          if (!(error instanceof PosencError)) throw error;
          expect(error.message.length).toBeLessThan(700);
          outcome = error.message.replace(/"(\\.|[^"\\])*"|[\d[\],]+|\(.*\)/gs, '…').slice(0, 60);
        }
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }),
      { numRuns: 20_000, seed: 20_000 },
    );
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200e6);
    // Mutations that all end at the same check would prove little.
    expect(outcomes.get('tensors')).toBeGreaterThan(500);
    expect(outcomes.size).toBeGreaterThan(15);
  });
});
