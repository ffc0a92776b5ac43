#!/usr/bin/env node
/** The process around `run`: streams, signals, the exit code. */
import { processIo } from './io.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `error: posenc needs Node.js 22.18 or newer, and this is ${process.version}: see https://nodejs.org\n`,
  );
  process.exit(1);
}

/** A reader that has seen enough (`| head`) is no error; output that found no room is. */
function outputLost(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`error: the output could not be written, so it is not complete: ${error.message}\n`);
  process.exit(1);
}
process.stdout.on('error', outputLost);
process.stderr.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

// Node's remarks on how a plug-in is loaded: what matters of them is in our own messages.
process.removeAllListeners('warning');
process.on('warning', (warning: Error & { code?: string }) => {
  const aboutLoading =
    warning.name === 'ExperimentalWarning' ||
    warning.code === 'MODULE_TYPELESS_PACKAGE_JSON' ||
    warning.message.startsWith('Failed to load the ES module');
  if (!aboutLoading) process.stderr.write(`warning: ${warning.message}\n`);
});

const { run } = await import('./run.ts');
const code = await run(process.argv.slice(2), processIo());
// What is still in the pipe goes out first; worker threads of a backend do not hold the process.
process.stdout.write('', (error) => (error ? outputLost(error) : process.stderr.write('', () => process.exit(code))));
