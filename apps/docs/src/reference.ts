/**
 * The API reference: one Markdown page for each way into a package, made by TypeDoc from signatures and docstrings.
 *
 * TypeDoc reads programs through TypeScript's JavaScript API, which TypeScript 7 does not have yet; so this package, and nothing
 * else here, has TypeScript 6, which reads the same sources. Whether they are right is checked elsewhere, by 7.
 */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application, type ProjectReflection, ReflectionKind } from 'typedoc';
import { entriesOf, publicPackages, root } from './packages.ts';

export interface Reference {
  /** `@posenc/core`, `posenc/bench` …: what has a page. */
  readonly modules: readonly string[];
  /** What TypeDoc had to complain about. */
  readonly problems: number;
}

/** Writes the reference into a folder, which is emptied first. TypeDoc prints what it finds wrong. */
export async function writeReference(out: string): Promise<Reference> {
  const entries = publicPackages().flatMap(({ manifest, ...one }) =>
    entriesOf({ manifest, ...one }).map((file, i) => [relative(root, file), nameOf(manifest, i)] as const),
  );
  const names = new Map(entries.map(([file, name]) => [file.replace(/\/index\.ts$/, ''), name]));
  const titles = new Map([...names.values()].map((name) => [pageOf(name), name]));
  const app = await Application.bootstrapWithPlugins({
    name: 'posenc',
    entryPoints: entries.map(([file]) => `${root}${file}`),
    tsconfig: fileURLToPath(new URL('../tsconfig.reference.json', import.meta.url)),
    basePath: root,
    plugin: ['typedoc-plugin-markdown'],
    outputs: [{ name: 'markdown', path: out }],
    logLevel: 'Warn',
    readme: 'none',
    disableSources: true,
    excludeExternals: true,
    skipErrorChecking: true,
    groupOrder: ['Functions', 'Variables', 'Interfaces', 'Type Aliases', 'Classes'],
    validation: { notExported: true, invalidLink: true, notDocumented: false },
    ...{
      outputFileStrategy: 'modules',
      hidePageHeader: true,
      hideBreadcrumbs: true,
      useCodeBlocks: true,
      parametersFormat: 'table',
      interfacePropertiesFormat: 'table',
      typeDeclarationFormat: 'table',
      classPropertiesFormat: 'table',
      pageTitleTemplates: { module: ({ name }: { name: string }) => titles.get(name) ?? name },
    },
  });
  const project = await app.convert();
  if (!project) throw new Error('TypeDoc could not read the sources');
  for (const module of modulesOf(project)) module.name = pageOf(names.get(module.name) ?? module.name);
  app.validate(project);
  await app.generateOutputs(project);
  return { modules: [...names.values()], problems: app.logger.warningCount + app.logger.errorCount };
}

const modulesOf = (project: ProjectReflection) => project.getReflectionsByKind(ReflectionKind.Module);

const nameOf = (manifest: { name: string; exports?: unknown }, entry: number): string =>
  Object.keys(manifest.exports as object)[entry]!.replace(/^\./, manifest.name);

/** A page's file, without folders: `core`, `posenc-bench`. */
const pageOf = (name: string): string => name.replace('@posenc/', '').replace('/', '-');
