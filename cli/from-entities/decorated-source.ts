import { parse } from '@babel/parser'
import { edited, type TextEdit } from '../generate/text-edit.js'

/** The decorators to add to a class. */
export interface AddedDecorators {
  readonly entity: string
  /** The decorators with their arguments, such as `@TenantScoped()`. */
  readonly decorators: readonly string[]
  /** The properties that get `@Internal()`. */
  readonly internal: readonly string[]
  /** The field names for properties that get `@ProtoField()`. */
  readonly fields?: ReadonlyMap<string, string>
  /** The imported names, by module. */
  readonly imports: ReadonlyMap<string, readonly string[]>
}

/** A source with decorators, or the problem that prevents adding them. */
export type DecoratedSource = { readonly text: string } | { readonly problem: string }

/** A class or property that can have decorators. */
interface Decorable {
  readonly start: number
  /** The names of its decorators. */
  readonly has: ReadonlySet<string>
  /** The text of its doc comment; undefined if there is none. */
  readonly description: string | undefined
}

/** The doc comments of a class and of its properties. */
export interface ClassDescriptions {
  readonly description: string | undefined
  readonly properties: ReadonlyMap<string, string>
}

/** Returns the doc comments of a module's classes, by class name; empty if the module cannot be parsed. */
export function classDescriptions(source: string): ReadonlyMap<string, ClassDescriptions> {
  const module = parsed(source)
  if ('problem' in module) return new Map()
  return new Map(
    [...module.classes].map(([name, { description, properties }]) => [
      name,
      {
        description,
        properties: new Map(
          [...properties].flatMap(([property, { description: text }]) =>
            text === undefined ? [] : [[property, text]],
          ),
        ),
      },
    ]),
  )
}

function parsed(source: string): Module | { readonly problem: string } {
  try {
    return moduleOf(
      source,
      parse(source, { sourceType: 'module', plugins: ['typescript', 'decorators-legacy'] }).program,
    )
  } catch (error) {
    return { problem: `it cannot be parsed: ${(error as Error).message}` }
  }
}

/** Returns the text of the doc comment that ends at a position, without its tags. */
function descriptionAt(source: string, at: number): string | undefined {
  const before = source.slice(0, at).trimEnd()
  const start = before.endsWith('*/') ? before.lastIndexOf('/*') : -1
  if (start === -1 || !before.startsWith('/**', start)) return undefined
  const [text = ''] = before
    .slice(start + '/**'.length, -'*/'.length)
    .replaceAll(/^\s*\* ?/gm, '')
    .split(/^\s*@\w/m)
  const plain = text
    .replaceAll(/\{@\w+ ([^}]*)\}/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return plain === '' ? undefined : plain
}

type Program = ReturnType<typeof parse>['program']

/** The classes of a module, its names, and its imports. */
interface Module {
  readonly classes: ReadonlyMap<string, Decorable & { readonly properties: ReadonlyMap<string, Decorable> }>
  readonly bound: ReadonlySet<string>
  /** The local name of an import, by its module and name. */
  readonly imported: ReadonlyMap<string, string>
  readonly afterImports: number
}

/**
 * Adds decorators above classes, `@Internal()` above properties, and imports after those of the file.
 * Everything else is unchanged. Existing decorators are kept. If the file uses an imported name for something
 * else, the import is renamed: `Resource as AshlarResource`.
 */
export function decoratedSource(source: string, added: readonly AddedDecorators[]): DecoratedSource {
  const module = parsed(source)
  if ('problem' in module) return module
  const { classes, bound, imported, afterImports } = module
  const edits: TextEdit[] = []
  const imports = new Map<string, Set<string>>()
  for (const { entity, decorators, internal, fields = new Map<string, string>(), imports: needed } of added) {
    const found = classes.get(entity)
    if (found === undefined) return { problem: `it has no class ${entity}` }
    const locals = new Map<string, string>()
    for (const [from, names] of needed)
      for (const name of names)
        locals.set(name, imported.get(`${from} ${name}`) ?? (bound.has(name) ? `Ashlar${name}` : name))
    const add = (to: Decorable, all: readonly string[]) => {
      const missing = all
        .map((one) => one.replaceAll(/\b\w+\b/g, (word) => locals.get(word) ?? word))
        .filter((one) => !to.has.has(/^@(\w+)/.exec(one)?.[1] ?? ''))
      const indent = /[ \t]*$/.exec(source.slice(0, to.start))?.[0] ?? ''
      if (missing.length > 0)
        edits.push({
          ...{ start: to.start, end: to.start },
          text: missing.map((one) => `${one}\n${indent}`).join(''),
        })
      return missing
    }
    const written = [...add(found, decorators)]
    const own = [
      ...internal.map((name) => [name, '@Internal()'] as const),
      ...[...fields].map(([name, field]) => [name, protoField(field)] as const),
    ]
    for (const [name, decorator] of own) {
      const property = found.properties.get(name)
      if (property === undefined)
        return { problem: `${entity} inherits ${name}, which needs ${decorator} in its own class` }
      written.push(...add(property, [decorator]))
    }
    for (const [from, names] of needed)
      for (const name of names) {
        const local = locals.get(name) as string
        const isUsed = written.some((one) => new RegExp(`\\b${local}\\b`).test(one))
        if (!isUsed || imported.has(`${from} ${name}`)) continue
        if (bound.has(local)) return { problem: `it already declares the names ${name} and ${local}` }
        const specifier = local === name ? name : `${name} as ${local}`
        imports.set(from, (imports.get(from) ?? new Set()).add(specifier))
      }
  }
  edits.sort((one, other) => one.start - other.start)
  if (imports.size > 0) edits.unshift(importEdit(source, afterImports, imports))
  return { text: edited(source, edits) }
}

export const protoField = (field: string): string => `@ProtoField('${field}')`

function moduleOf(source: string, { body }: Program): Module {
  const bound = new Set<string>()
  const imported = new Map<string, string>()
  const classes = new Map<string, Decorable & { readonly properties: ReadonlyMap<string, Decorable> }>()
  let afterImports = 0
  for (const statement of body) {
    if (statement.type === 'ImportDeclaration') {
      afterImports = statement.end as number
      for (const one of statement.specifiers) {
        bound.add(one.local.name)
        if (one.type === 'ImportSpecifier' && one.imported.type === 'Identifier')
          imported.set(`${statement.source.value} ${one.imported.name}`, one.local.name)
      }
      continue
    }
    const declaration =
      statement.type === 'ExportNamedDeclaration' || statement.type === 'ExportDefaultDeclaration'
        ? statement.declaration
        : statement
    if (declaration === null || declaration === undefined) continue
    if ('id' in declaration && declaration.id?.type === 'Identifier') bound.add(declaration.id.name)
    if (declaration.type !== 'ClassDeclaration' || !declaration.id) continue
    const properties = new Map<string, Decorable>()
    for (const member of declaration.body.body)
      if (member.type === 'ClassProperty' && member.key.type === 'Identifier')
        properties.set(member.key.name, decorable(source, member.start, member.decorators))
    classes.set(declaration.id.name, {
      ...decorable(source, statement.start, declaration.decorators),
      properties,
    })
  }
  return { classes, bound, imported, afterImports }
}

interface Place {
  readonly start?: number | null | undefined
  readonly end?: number | null | undefined
}

const decorable = (
  source: string,
  start: Place['start'],
  decorators: readonly Place[] | null | undefined,
): Decorable => {
  const at = Math.min(start as number, ...(decorators ?? []).map((one) => one.start as number))
  return {
    start: at,
    has: new Set(
      (decorators ?? []).map((one) => /^@(\w+)/.exec(source.slice(one.start ?? 0, one.end ?? 0))?.[1] ?? ''),
    ),
    description: descriptionAt(source, at),
  }
}

/** Returns import lines in the file's style of quotes and semicolons. */
function importEdit(source: string, at: number, imports: ReadonlyMap<string, ReadonlySet<string>>): TextEdit {
  const before = source.slice(0, at)
  const quote = before.includes('"') && !before.includes("'") ? '"' : "'"
  const end = at === 0 || before.trimEnd().endsWith(';') ? ';' : ''
  const lines = [...imports].map(
    ([module, names]) => `import { ${[...names].sort().join(', ')} } from ${quote}${module}${quote}${end}`,
  )
  return { start: at, end: at, text: at === 0 ? `${lines.join('\n')}\n\n` : `\n${lines.join('\n')}` }
}
