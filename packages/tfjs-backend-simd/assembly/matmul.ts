/**
 * C = op(A)·op(B) in float32. Both operands are packed into panels (pack.ts), B once, A block by block by whoever computes
 * it, and multiplied tile by tile (tiles.ts).
 */
import { NR, packA } from './pack';
import { at, threadScratch } from './simd';
import { multiplyPanels, tileScratchBytes } from './tiles';

/** Rows of A and length of the inner axis that are packed at a time: they stay in the second-level cache. */
const MC: i32 = 96;
const KC: i32 = 512;

/** Bytes of scratch that each thread needs: its panels of A, and a tile at the border. */
export function matmulScratchBytes(): i32 {
  return MC * KC * 4 + tileScratchBytes;
}

/**
 * Tiles [begin, end) of a batch of products. A tile is up to 96 rows times `columns` columns of C; the tiles of one
 * product are numbered row block by row block. B is packed; A is packed here, into this thread's scratch.
 *
 * @param scratch matmulScratchBytes() for every thread
 * @param sizeA floats from one A of the batch to the next; 0: all share it. Likewise sizeB, in packed floats.
 */
export function matmulTiles(
  begin: i32,
  end: i32,
  scratch: usize,
  a: usize,
  packedB: usize,
  c: usize,
  M: i32,
  N: i32,
  K: i32,
  strideM: i32,
  strideK: i32,
  sizeA: i32,
  sizeB: i32,
  columns: i32,
): void {
  const across = (N + columns - 1) / columns;
  const down = (M + MC - 1) / MC;
  scratch = threadScratch(scratch, matmulScratchBytes());
  for (let tile = begin; tile < end; tile++) {
    const item = tile / (across * down);
    const place = tile % (across * down);
    const m = (place / across) * MC;
    const n = (place % across) * columns;
    multiplyTile(
      scratch,
      at(a, item * sizeA + m * strideM),
      at(packedB, item * sizeB),
      c + (((<usize>item * <usize>M + <usize>m) * <usize>N) << 2),
      min(MC, M - m),
      N,
      n,
      min(n + columns, N),
      K,
      strideM,
      strideK,
    );
  }
}

/** Columns [n0, n1) of `rows` rows of C. */
function multiplyTile(
  scratch: usize,
  a: usize,
  packedB: usize,
  c: usize,
  rows: i32,
  N: i32,
  n0: i32,
  n1: i32,
  K: i32,
  strideM: i32,
  strideK: i32,
): void {
  const panels = packedB + (((<usize>n0) * <usize>K) << 2);
  const border = scratch + MC * KC * 4;
  for (let k = 0; k < K; k += KC) {
    const depth = min(KC, K - k);
    packA(scratch, at(a, k * strideK), rows, depth, strideM, strideK);
    multiplyPanels(scratch, panels + <usize>k * (NR * 4), at(c, n0), rows, n1 - n0, depth, K, N, k > 0, border);
  }
}
