/** Recognises, by its first bytes, what was given in place of a safetensors file, and says what to do with it. */

interface Format {
  readonly name: string;
  readonly starts: readonly (string | readonly number[])[];
  readonly advice: string;
}

const convert = 'load it where it came from and save it with save_pretrained(…, safe_serialization=True)';

const formats: readonly Format[] = [
  {
    name: 'a zip archive (PyTorch .bin/.pt, NumPy .npz or Keras)',
    starts: ['PK\x03\x04', 'PK\x05\x06'],
    advice: convert,
  },
  {
    name: 'a Python pickle (an old PyTorch .bin/.pt)',
    starts: [
      [0x80, 2],
      [0x80, 3],
      [0x80, 4],
      [0x80, 5],
    ],
    advice: convert,
  },
  { name: 'an HDF5 file (Keras .h5)', starts: [[0x89, 0x48, 0x44, 0x46]], advice: convert },
  { name: 'a NumPy array (.npy)', starts: [[0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]], advice: convert },
  {
    name: 'a GGUF file',
    starts: ['GGUF'],
    advice: 'take the safetensors files of the same model; GGUF weights are usually quantized',
  },
  { name: 'a Git LFS pointer', starts: ['version https://git-lfs'], advice: 'run "git lfs pull" in that repository' },
  {
    name: 'a web page',
    starts: ['<!doctype', '<html', '<?xml'],
    advice: 'the download gave an error page; fetch the file itself',
  },
  { name: 'gzip-compressed', starts: [[0x1f, 0x8b]], advice: 'decompress it first' },
  { name: 'JSON text', starts: ['{', '['], advice: 'name the .safetensors file beside it' },
];

/** undefined when the bytes look like nothing known. */
export function foreignFormat(head: Uint8Array): Format | undefined {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1').toLowerCase();
  const startsWith = (start: string | readonly number[]) =>
    typeof start === 'string'
      ? text.trimStart().startsWith(start.toLowerCase())
      : start.every((byte, i) => head[i] === byte);
  return formats.find((format) => format.starts.some(startsWith));
}
