/**
 * What a package exports, and whether each of it says what it is. Read from the syntax alone, file by file, so that it takes a
 * second for all packages; the reference, which needs types, takes half a minute.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import ts from 'typescript';

export interface Exported {
  readonly name: string;
  /** Where it is declared. */
  readonly file: string;
  readonly line: number;
  readonly documented: boolean;
}

/** Every name that a module exports, re-exports of this package's own files followed; those of other packages are theirs to explain. */
export function exportsOf(file: string): Exported[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const found = new Map<string, Exported>();
  const add = (name: string, { file, line, documented }: Exported) => {
    const before = found.get(name);
    // An overload, or a type and a value of one name: one docstring serves both.
    found.set(name, { name, file, line, documented: documented || (before?.documented ?? false) });
  };
  for (const declared of source.statements.filter(isExported).flatMap(namesIn)) add(declared.text, placeOf(declared));
  for (const statement of source.statements.filter(ts.isExportDeclaration)) {
    const from = statement.moduleSpecifier as ts.StringLiteral | undefined;
    if (from && !from.text.startsWith('.')) continue;
    const theirs = from
      ? exportsOf(resolve(dirname(file), from.text))
      : source.statements.flatMap(namesIn).map(placeOf);
    const { exportClause } = statement;
    if (exportClause === undefined) for (const one of theirs) add(one.name, one);
    else if (ts.isNamedExports(exportClause))
      for (const { name, propertyName } of exportClause.elements) {
        const one = theirs.find((t) => t.name === (propertyName ?? name).text);
        if (!one) throw new Error(`${file}: no declaration of ${(propertyName ?? name).text} found`);
        add(name.text, one);
      }
  }
  return [...found.values()];
}

const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false);

function namesIn(statement: ts.Statement): ts.Identifier[] {
  const names = ts.isVariableStatement(statement)
    ? statement.declarationList.declarations.map(({ name }) => name)
    : [(statement as ts.Statement & { name?: ts.Node }).name];
  return names.filter((name) => name !== undefined && ts.isIdentifier(name));
}

function placeOf(name: ts.Identifier): Exported {
  const source = name.getSourceFile();
  const { line } = source.getLineAndCharacterOfPosition(name.getStart());
  const documented = ts.getJSDocCommentsAndTags(name.parent).some((doc) => ts.isJSDoc(doc) && Boolean(doc.comment));
  return { name: name.text, file: source.fileName, line: line + 1, documented };
}
