import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'
import { root } from '../root.js'

/**
 * An import of a source file. `to` is a path from the repository root (`lib/errors.ts`) or a package name.
 */
export interface Import {
  readonly to: string
  readonly isPackage: boolean
  /**
   * A `value` import runs when the file is loaded, a `type` import is erased, and a `lazy` import runs on
   * demand.
   */
  readonly how: 'value' | 'type' | 'lazy'
}

/** The properties of a TypeScript file that the tests of the source code use. */
export interface SourceFile {
  /** The path from the repository root, with forward slashes. */
  readonly path: string
  readonly lines: number
  readonly text: string
  readonly imports: readonly Import[]
  readonly hasDefaultExport: boolean
  readonly hasExportStar: boolean
}

/** The folder of the API reference, which is generated from the doc comments. */
const API_REFERENCE = 'docs/reference/api'

/**
 * Returns the files of the project in `folder` (a path from the root, `.` for all), without build output and
 * installed packages.
 */
export function projectFiles(folder: string): readonly string[] {
  const found: string[] = []
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    if (/^(node_modules|dist.*|\.git|coverage|\.cache)$/.test(entry.name) || entry.name.endsWith('.tgz'))
      continue
    const path = folder === '.' ? entry.name : `${folder}/${entry.name}`
    if (path === API_REFERENCE) continue
    if (entry.isDirectory()) found.push(...projectFiles(path))
    else if (entry.isFile()) found.push(path)
  }
  return found.sort()
}

/** Parses all TypeScript files in the folders. */
export const sourceFiles = (...folders: readonly string[]): readonly SourceFile[] =>
  folders.flatMap((folder) => projectFiles(folder).filter((path) => path.endsWith('.ts'))).map(parse)

function parse(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8')
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true)
  const imports: Import[] = []
  let hasDefaultExport = false
  let hasExportStar = false
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, importsOnlyTypes(node) ? 'type' : 'value')
    if (ts.isExportDeclaration(node)) {
      if (node.moduleSpecifier !== undefined)
        add(node.moduleSpecifier, exportsOnlyTypes(node) ? 'type' : 'value')
      hasExportStar ||=
        node.moduleSpecifier !== undefined && !(node.exportClause && ts.isNamedExports(node.exportClause))
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, 'type')
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], 'lazy')
    if (ts.isExportAssignment(node)) hasDefaultExport = true
    if (ts.canHaveModifiers(node))
      hasDefaultExport ||=
        ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword) ?? false
    ts.forEachChild(node, visit)
  }
  const add = (specifier: ts.Node | undefined, how: Import['how']): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return
    imports.push({ ...resolve(path, specifier.text), how })
  }
  visit(source)
  return { path, text, lines: text.split('\n').length - 1, imports, hasDefaultExport, hasExportStar }
}

function importsOnlyTypes({ importClause }: ts.ImportDeclaration): boolean {
  if (importClause === undefined) return false
  if (importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true
  const bindings = importClause.namedBindings
  if (importClause.name !== undefined || bindings === undefined || ts.isNamespaceImport(bindings))
    return false
  return bindings.elements.length > 0 && bindings.elements.every(({ isTypeOnly }) => isTypeOnly)
}

function exportsOnlyTypes({ isTypeOnly, exportClause }: ts.ExportDeclaration): boolean {
  if (isTypeOnly) return true
  if (exportClause === undefined || !ts.isNamedExports(exportClause)) return false
  return exportClause.elements.length > 0 && exportClause.elements.every((element) => element.isTypeOnly)
}

function resolve(from: string, specifier: string): { readonly to: string; readonly isPackage: boolean } {
  if (specifier.startsWith('.')) {
    const to = relative(root, join(root, dirname(from), specifier)).replaceAll('\\', '/')
    return { to: to.replace(/\.js$/, '.ts'), isPackage: false }
  }
  const [first = '', second = ''] = specifier.split('/')
  if (first.startsWith('@')) return { to: `${first}/${second}`, isPackage: true }
  return { to: first, isPackage: true }
}
