import { parse } from '@babel/parser'
import { edited, type TextEdit } from '../generate/text-edit.js'

/** The decorators to add to a class. */
export interface AddedDecorators {
  readonly entity: string
  /** The decorators with their arguments, such as `@TenantScoped()`. */
  readonly decorators: readonly string[]
  /** Names by the module that exports them. */
  readonly imports: ReadonlyMap<string, readonly string[]>
}

/** A source with decorators, or why they cannot be added. */
export type DecoratedSource = { readonly text: string } | { readonly problem: string }

/**
 * Adds decorators above classes, and their imports behind those of the file. Everything else stays as it is.
 * A class that has one of the decorators keeps it.
 */
export function decoratedSource(source: string, added: readonly AddedDecorators[]): DecoratedSource {
  let program: ReturnType<typeof parse>['program']
  try {
    program = parse(source, { sourceType: 'module', plugins: ['typescript', 'decorators-legacy'] }).program
  } catch (error) {
    return { problem: `it cannot be parsed: ${(error as Error).message}` }
  }
  const bound = new Set<string>()
  const classes = new Map<string, { readonly start: number; readonly has: ReadonlySet<string> }>()
  let afterImports = 0
  for (const statement of program.body) {
    if (statement.type === 'ImportDeclaration') {
      afterImports = statement.end as number
      for (const { local } of statement.specifiers) bound.add(local.name)
      continue
    }
    const declaration =
      statement.type === 'ExportNamedDeclaration' || statement.type === 'ExportDefaultDeclaration'
        ? statement.declaration
        : statement
    if (declaration === null || declaration === undefined) continue
    if ('id' in declaration && declaration.id?.type === 'Identifier') bound.add(declaration.id.name)
    if (declaration.type !== 'ClassDeclaration' || !declaration.id) continue
    const decorators = declaration.decorators ?? []
    classes.set(declaration.id.name, {
      start: Math.min(statement.start as number, ...decorators.map(({ start }) => start as number)),
      has: new Set(
        decorators.map(({ start, end }) => /^@(\w+)/.exec(source.slice(start ?? 0, end ?? 0))?.[1] ?? ''),
      ),
    })
  }
  const edits: TextEdit[] = []
  const imports = new Map<string, Set<string>>()
  for (const { entity, decorators, imports: needed } of added) {
    const found = classes.get(entity)
    if (found === undefined) return { problem: `it has no class ${entity}` }
    const missing = decorators.filter((one) => !found.has.has(/^@(\w+)/.exec(one)?.[1] ?? ''))
    if (missing.length === 0) continue
    const indent = /[ \t]*$/.exec(source.slice(0, found.start))?.[0] ?? ''
    edits.push({
      ...{ start: found.start, end: found.start },
      text: missing.map((one) => `${one}\n${indent}`).join(''),
    })
    for (const [module, names] of needed)
      for (const name of names)
        if (missing.some((one) => new RegExp(`\\b${name}\\b`).test(one)) && !imports.get(module)?.has(name)) {
          if (bound.has(name) && !isImported(source, name, module))
            return { problem: `it already declares the name ${name}` }
          if (!bound.has(name)) imports.set(module, (imports.get(module) ?? new Set()).add(name))
        }
  }
  if (imports.size > 0) edits.unshift(importEdit(source, afterImports, imports))
  return { text: edited(source, edits) }
}

const isImported = (source: string, name: string, module: string): boolean =>
  new RegExp(`import\\s*\\{[^}]*\\b${name}\\b[^}]*\\}\\s*from\\s*['"]${module}['"]`).test(source)

/** Import lines with the quotes and semicolons of the file. */
function importEdit(source: string, at: number, imports: ReadonlyMap<string, ReadonlySet<string>>): TextEdit {
  const before = source.slice(0, at)
  const quote = before.includes('"') && !before.includes("'") ? '"' : "'"
  const end = at === 0 || before.trimEnd().endsWith(';') ? ';' : ''
  const lines = [...imports].map(
    ([module, names]) => `import { ${[...names].sort().join(', ')} } from ${quote}${module}${quote}${end}`,
  )
  return { start: at, end: at, text: at === 0 ? `${lines.join('\n')}\n\n` : `\n${lines.join('\n')}` }
}
