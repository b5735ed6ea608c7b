import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root } from '../root.js'

export interface Exported {
  readonly name: string
  readonly kind: 'value' | 'type'
  /** True if the doc comment has an `@example`. */
  readonly hasExample: boolean
  /** True if every declaration is marked `@internal`: the API reference leaves the name out. */
  readonly isInternal: boolean
}

export interface Section {
  /** The audience of the section: `applications` or `libraries`. */
  readonly audience: string
  /** The number of the heading in the specification. */
  readonly heading: number
  readonly exports: readonly Exported[]
}

/** The names that users can import, from every entry point in `exports`, as the compiler resolves them. */
export interface Surface {
  /** The import paths of the entry points, such as `ashlar/persistence`. */
  readonly entries: readonly string[]
  /** Returns the exported names of an entry point in order. `kind` says how a name can be used. */
  exportsOf(entry: string): readonly Exported[]
  /**
   * Returns the names of an entry point by section. The comments `// For …` and `// 1. …` begin a section.
   */
  sectionsOf(entry: string): readonly Section[]
  /** Returns the names of the members of an exported class, interface or object type. */
  membersOf(entry: string, name: string): readonly string[]
}

let known: Surface | undefined

/** Returns the surface of the current sources. They are compiled once per process. */
export const surface = (): Surface => (known ??= readSurface())

function readSurface(): Surface {
  const sources = entrySources()
  const configuration = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path))
  const { options } = ts.parseJsonConfigFileContent(configuration.config, ts.sys, root)
  const program = ts.createProgram([...sources.values()], { ...options, noEmit: true, incremental: false })
  const checker = program.getTypeChecker()

  const aliasesOf = (entry: string): ReadonlyMap<string, ts.Symbol> => {
    const file = program.getSourceFile(sources.get(entry) ?? '')
    const module = file && checker.getSymbolAtLocation(file)
    const exported = module === undefined ? [] : checker.getExportsOfModule(module)
    return new Map(exported.map((symbol) => [symbol.name, symbol]))
  }
  const target = (symbol: ts.Symbol): ts.Symbol =>
    (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)
  const isValue = (symbol: ts.Symbol): boolean =>
    (target(symbol).flags & ts.SymbolFlags.Value) !== 0 &&
    !(symbol.declarations ?? []).some(ts.isTypeOnlyExportDeclaration)

  /** Returns the properties of a type, without those that every string or array has. */
  const ownProperties = (type: ts.Type): readonly string[] =>
    type
      .getProperties()
      .filter(({ declarations = [] }) =>
        declarations.every((one) => !program.isSourceFileDefaultLibrary(one.getSourceFile())),
      )
      .map(({ name }) => name)

  const exportsOf = (entry: string): readonly Exported[] =>
    [...aliasesOf(entry)]
      .map(([name, symbol]): Exported => {
        const tags = (target(symbol).declarations ?? []).map(tagsOf)
        return {
          name,
          kind: isValue(symbol) ? 'value' : 'type',
          hasExample: tags.some((of) => of.includes('example')),
          isInternal: tags.length > 0 && tags.every((of) => of.includes('internal')),
        }
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1))

  return {
    entries: [...sources.keys()],
    exportsOf,
    sectionsOf: (entry) => {
      const path = sources.get(entry) ?? ''
      const names = namesBySection(ts.sys.readFile(path) ?? '', path)
      return names.map(({ audience, heading, names }) => ({
        audience,
        heading,
        exports: exportsOf(entry).filter(({ name }) => names.has(name)),
      }))
    },
    membersOf: (entry, name) => {
      const alias = aliasesOf(entry).get(name)
      if (alias === undefined || (target(alias).flags & ts.SymbolFlags.Type) === 0) return []
      return ownProperties(checker.getDeclaredTypeOfSymbol(target(alias)))
    },
  }
}

const tagsOf = (declaration: ts.Declaration): readonly string[] =>
  ts.getJSDocTags(declaration).map(({ tagName }) => tagName.text)

function entrySources(): ReadonlyMap<string, string> {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>
  }
  const sources = new Map<string, string>()
  for (const [path, conditions] of Object.entries(exports)) {
    if (typeof conditions === 'string' || path.includes('*')) continue
    const source = conditions.default.replace('./dist/', '').replace(/\.js$/, '.ts')
    sources.set(`ashlar${path.slice(1)}`, join(root, source))
  }
  return sources
}

/** Returns the names that the export statements below each pair of comments list. */
function namesBySection(text: string, path: string) {
  const sections: { readonly audience: string; readonly heading: number; readonly names: Set<string> }[] = []
  let [audience, heading] = ['', 0]
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022)
  for (const statement of file.statements) {
    const above = text.slice(statement.getFullStart(), statement.getStart(file))
    audience = [...above.matchAll(/^\/\/ For (\w+)/gm)].at(-1)?.[1] ?? audience
    heading = Number([...above.matchAll(/^\/\/ (\d)\. /gm)].at(-1)?.[1] ?? heading)
    if (!ts.isExportDeclaration(statement) || statement.exportClause === undefined) continue
    if (!ts.isNamedExports(statement.exportClause)) continue
    let section = sections.find((one) => one.audience === audience && one.heading === heading)
    if (section === undefined) sections.push((section = { audience, heading, names: new Set() }))
    for (const { name } of statement.exportClause.elements) section.names.add(name.text)
  }
  return sections
}
