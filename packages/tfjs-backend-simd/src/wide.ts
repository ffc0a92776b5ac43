/**
 * Registers of 256 bits. WebAssembly's vectors have 128; V8 can join pairs of them when it compiles (an experiment of
 * V8's, behind a flag). The same numbers then take half the instructions, and another tile of the matrix product is best:
 * which one is measured, so that nothing is lost where the flag does nothing.
 */
import { firstFreeAddress } from './task.ts';

/** Since when the experiment joins fused multiply-adds too: Node 24. */
const [firstMajor, firstMinor] = [13, 6];

const versionOfV8 = (): readonly number[] =>
  (globalThis.process?.versions?.v8 ?? '').split('.', 2).map((part) => Number(part));

/** `POSENC_SIMD_WIDE`: 1 is yes; 0, empty or unset is no. Throws RangeError for anything else. */
export function defaultWide(): boolean {
  const asked = globalThis.process?.env?.POSENC_SIMD_WIDE ?? '';
  if (!['', '0', '1'].includes(asked)) throw new RangeError(`POSENC_SIMD_WIDE must be 0 or 1, not "${asked}"`);
  return asked === '1';
}

/** Whether this V8 is known to compute the same bits under the flag. */
export function knowsWide(): boolean {
  const [major = 0, minor = 0] = versionOfV8();
  return globalThis.process?.arch === 'x64' && (major > firstMajor || (major === firstMajor && minor >= firstMinor));
}

/** Sets the flag for all WebAssembly that is compiled from now on; only where `knowsWide`. */
export function widen(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--experimental-wasm-revectorize');
}

/** The inner length of the products that are timed; their operands and results fill 64 KiB at most. */
const K = 256;
/** Milliseconds: V8 compiles the tiles for speed meanwhile. */
const patience = 100;

/** Times the tile for 256-bit registers against the one for 128, on memory that nobody uses yet. */
export function prefersWide(module: WebAssembly.Module, memory: WebAssembly.Memory): boolean {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  const setWide = exports.setWide as (wide: number) => void;
  const multiplyPanels = exports.multiplyPanels as (...numbers: number[]) => void;
  const a = firstFreeAddress;
  const [b, c] = [a + 4 * 6 * K, a + 4 * 6 * K + 4 * 16 * K];
  const time = (wide: number) => {
    setWide(wide);
    const start = performance.now();
    for (let i = 0; i < 8; i++) multiplyPanels(a, b, c, 6, 16, K, K, 16, 0, 0);
    return performance.now() - start;
  };
  const best = [time(0), time(1)] as [number, number];
  const first = [...best];
  const compiled = () => best.every((ms, i) => ms < first[i]! / 3);
  const end = performance.now() + patience;
  for (let rest = 200; rest > 0 && performance.now() < end; rest -= compiled() ? 1 : 0)
    for (const wide of [0, 1] as const) best[wide] = Math.min(best[wide], time(wide));
  return best[1] < 0.8 * best[0];
}
