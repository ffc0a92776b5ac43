/** The command line as a library: run it, or use its encodings and its way of loading those of others. */
export { builtIn, registryWith } from './encodings.ts';
export { exit } from './exit.ts';
export type { Io, Output } from './io.ts';
export { type LoadedEncoding, loadEncodings } from './plugins.ts';
export { run } from './run.ts';
export { version } from './version.ts';
