/** The other end of `batch`: reads command lines from standard input, writes their results to standard output. */
import { text } from 'node:stream/consumers';
import { cli, type Result } from './cli.ts';

const lines = JSON.parse(await text(process.stdin)) as string[][];
const results: Result[] = [];
for (const line of lines) results.push(await cli(line, { cwd: process.cwd() }));
process.stdout.write(JSON.stringify(results));
