/** What Node.js says when a module cannot be run, told to its author. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Why a module could not be run: Node's message, the place in the file, and what helps. */
export function whyNot(error: unknown, path: string | undefined, cwd: string): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  const hints: Record<string, string> = {
    ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX:
      'Node.js runs TypeScript by erasing its types: no enum, namespace or parameter property',
    ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING:
      'Node.js runs no TypeScript inside node_modules: the package must ship JavaScript',
    ERR_MODULE_NOT_FOUND:
      'install what is missing (npm install), or correct the import; a relative import needs its file extension',
  };
  const module = /import statement outside a module|Unexpected token 'export'/.test(error.message);
  const hint =
    code && hints[code]
      ? hints[code]
      : module && 'it is read as CommonJS: name it .mts or .mjs, or set "type": "module" in package.json';
  const located = code !== 'ERR_MODULE_NOT_FOUND';
  const place = error instanceof SyntaxError ? syntaxPlace(error, path) : located && frameOf(error, cwd);
  return [`${error.name}: ${error.message.trim()}`, place, hint && `  ${hint}`].filter(Boolean).join('\n');
}

/** File, line and the code in question. Node keeps them at the head of the stack, or tells `node --check`. */
function syntaxPlace(error: Error, path: string | undefined): string | undefined {
  const head = (text: string) => text.split(/\n\s*\n|\n\s+at |\nSyntaxError/)[0]!;
  const stack = error.stack ?? '';
  if (/^\S+:\d+\n/.test(stack)) return head(stack).replace(/^/gm, '  ');
  if (path === undefined || !/\.m?js$/.test(path)) return undefined;
  const { stderr } = spawnSync(process.execPath, ['--check', path], { encoding: 'utf8' });
  return /^\S.*:\d+\n/.test(stderr) ? head(stderr).replace(/^/gm, '  ') : undefined;
}

/** The first line of a stack that lies in the user's own code. */
function frameOf(error: Error, cwd: string): string | undefined {
  const frame = (error.stack ?? '')
    .split('\n')
    .find((line) => /^\s+at .*file:\/\/|^\s+at .*\(?\//.test(line) && !line.includes('node:'));
  return (
    frame &&
    `  ${frame
      .trim()
      .replace(pathToFileURL(join(cwd, '/')).href, '')
      .replace('file://', '')}`
  );
}
