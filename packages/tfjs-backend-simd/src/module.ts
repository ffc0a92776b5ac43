/** Finds and compiles the WebAssembly module: with relaxed SIMD where the engine has it, else with plain SIMD. */

export type Variant = 'relaxed' | 'plain';

/** (func (result v128) v128.const 0, v128.const 0, v128.const 0, f32x4.relaxed_madd) */
const usesRelaxedSimd = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...[1, 5, 1, 0x60, 0, 1, 0x7b],
  ...[3, 2, 1, 0],
  ...[10, 61, 1, 59, 0],
  ...[0xfd, 0x0c, ...Array(16).fill(0)],
  ...[0xfd, 0x0c, ...Array(16).fill(0)],
  ...[0xfd, 0x0c, ...Array(16).fill(0)],
  ...[0xfd, 0x85, 0x02, 0x0b],
);

/** Throws RangeError for what is none. */
export function checkVariant(variant: string): asserts variant is Variant {
  if (variant !== 'relaxed' && variant !== 'plain')
    throw new RangeError(`variant must be 'relaxed' or 'plain', not '${variant}'; left out, it is what the engine has`);
}

export const hasRelaxedSimd = (): boolean => WebAssembly.validate(usesRelaxedSimd);

export async function loadModule(variant: Variant): Promise<WebAssembly.Module> {
  if (import.meta.url.endsWith('.ts')) await buildFromSources();
  const url = variant === 'relaxed' ? new URL('../wasm/relaxed.wasm', import.meta.url) : plainUrl();
  if (url.protocol !== 'file:') {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`The simd backend cannot load ${url}: ${response.status} ${response.statusText}`);
    // Not compileStreaming: it refuses what a server does not call application/wasm.
    return WebAssembly.compile(await response.arrayBuffer());
  }
  return WebAssembly.compile(await process.getBuiltinModule('node:fs/promises').readFile(url));
}

// Bundlers recognise `new URL` with a literal only.
const plainUrl = () => new URL('../wasm/plain.wasm', import.meta.url);

/** Inside the repository nothing need be built first. A variable hides this from bundlers, which never run it. */
async function buildFromSources(): Promise<void> {
  const script = new URL('../scripts/build-wasm.mjs', import.meta.url).href;
  const { buildWasm } = (await import(/* @vite-ignore */ script)) as { buildWasm(): Promise<void> };
  await buildWasm();
}
