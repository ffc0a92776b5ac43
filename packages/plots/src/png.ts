/** A grid of palette indices as a PNG data URI: the only way a large heatmap stays small. */
import { encode } from 'fast-png';

/** `pixels` is row-major, width × height, indices into `palette` ([r, g, b], at most 256 colours). */
export function pngDataUri(
  width: number,
  height: number,
  pixels: Uint8Array,
  palette: readonly (readonly number[])[],
): string {
  const colours = palette.map((c) => [...c]);
  const bytes = encode(
    { width, height, data: pixels, channels: 1, depth: 8, palette: colours },
    { zlib: { level: 9 } },
  );
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return `data:image/png;base64,${btoa(text)}`;
}
