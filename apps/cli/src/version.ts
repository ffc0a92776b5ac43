import { readFileSync } from 'node:fs';

/** Of this package; its package.json is one folder up from src and from dist. */
export const version: string = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
