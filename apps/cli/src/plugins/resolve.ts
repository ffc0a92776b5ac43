/** How Node.js finds the modules of plug-ins. */
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { workspaceEncodings } from './workspace.ts';

const packageScheme = 'posenc-package:';

/** What to import for a package that is looked up from the user's folder, then from posenc's, then among those of a clone. */
export const packageAddress = (name: string, cwd: string): string =>
  `${packageScheme}${pathToFileURL(join(cwd, 'posenc')).href}#${name}`;

/** Where packages named on the command line were found. */
export const resolvedPackages = new Map<string, string>();
let resolving = false;

/**
 * From here on `packageAddress` can be imported, and a plug-in that lives anywhere, alone, finds posenc's own @posenc/core and
 * TensorFlow.js: one copy for all, as tensors need.
 */
export function resolveFromPosenc(): void {
  if (resolving) return;
  resolving = true;
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier.startsWith(packageScheme)) {
        const [parentURL, name] = specifier.slice(packageScheme.length).split('#') as [string, string];
        const from = (parent: string) => next(name, { ...context, parentURL: parent });
        const inClone = workspaceEncodings().get(name);
        const found = firstOf([
          () => from(parentURL),
          () => from(import.meta.url),
          ...(inClone ? [() => from(pathToFileURL(join(inClone, 'package.json')).href)] : []), // from inside it knows itself
        ]);
        resolvedPackages.set(name, found.url);
        return found;
      }
      if (!/^@(posenc|tensorflow)\//.test(specifier)) return next(specifier, context);
      return firstOf([
        () => next(specifier, context),
        () => next(specifier, { ...context, parentURL: import.meta.url }),
      ]);
    },
  });
}

/** The first that finds its module. Throws as the last does when none finds it. */
function firstOf<T>([first, ...others]: readonly (() => T)[]): T {
  try {
    return first!();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND' || others.length === 0) throw error;
    return firstOf(others);
  }
}
