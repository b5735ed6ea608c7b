import type { AddedDecorators } from '../from-entities/decorated-source.js'
import { quoted } from './column-types.js'
import {
  type ClassProperty,
  type Decorator,
  type EntityClass,
  Sql,
  Target,
  type Value,
} from './entity-class.js'

/** Decorators of Ashlar. The others come from TypeORM. */
export const OF_ASHLAR: ReadonlySet<string> = new Set(['Internal', 'OutputOnly', 'ProtoField'])

/** The line length of generated sources. */
const WIDTH = 100

/**
 * Returns the source of an entity class's module.
 * @param added - the decorators that make it a resource.
 * @param moduleOf - returns the import path of another class.
 */
export function classSource(
  entity: EntityClass,
  added: AddedDecorators | undefined,
  moduleOf: (name: string) => string,
): string {
  const internal = new Set(added?.internal)
  const properties = entity.properties.map((one) => {
    const field = added?.fields?.get(one.name)
    const first: readonly Decorator[] = [
      ...(internal.has(one.name) ? [{ name: 'Internal', args: [] }] : []),
      ...(field === undefined ? [] : [{ name: 'ProtoField', args: [field] }]),
    ]
    return { ...one, decorators: [...first, ...one.decorators] }
  })
  const used = [...entity.decorators, ...properties.flatMap(({ decorators }) => decorators)]
  const names = [...new Set(used.map(({ name }) => name))]
  const relation = entity.properties.some(({ type }) => type.startsWith('Relation<'))
  const targets = used.flatMap(({ args }) => args).filter((one) => one instanceof Target)
  const imports = new Map<string, readonly string[]>([
    [
      'typeorm',
      [...names.filter((one) => !OF_ASHLAR.has(one)).sort(), ...(relation ? ['type Relation'] : [])],
    ],
    ['ashlar/decorators', names.filter((one) => OF_ASHLAR.has(one))],
    ...[...new Set(targets.map(({ name }) => name))]
      .filter((name) => name !== entity.name)
      .sort()
      .map((name) => [moduleOf(name), [name]] as const),
  ])
  for (const [module, more] of added?.imports ?? [])
    imports.set(module, [...new Set([...(imports.get(module) ?? []), ...more])].sort())
  return `${[...imports].flatMap(([module, all]) => (all.length > 0 ? [importLine(all, module)] : [])).join('\n')}

${(added?.decorators ?? []).map((one) => `${one}\n`).join('')}${entity.decorators.map((one) => `${decoratorText(one, '')}\n`).join('')}export class ${entity.name} {
${properties.map(propertyText).join('\n')}}
`
}

function importLine(names: readonly string[], module: string): string {
  const line = `import { ${names.join(', ')} } from '${module}'`
  return line.length <= WIDTH
    ? line
    : `import {\n${names.map((name) => `  ${name},\n`).join('')}} from '${module}'`
}

function propertyText({ name, decorators, type, isOptional }: ClassProperty): string {
  const declared = `${name}${isOptional ? '?' : '!'}: ${type}`
  const line = `  ${decorators.map((one) => decoratorText(one)).join(' ')} ${declared}`
  return line.length <= WIDTH
    ? `${line}\n`
    : `${decorators.map((one) => `  ${decoratorText(one, '  ')}\n`).join('')}  ${declared}\n`
}

/** @param indent - the indentation of a decorator on its own line, which is broken if it is too long. */
function decoratorText({ name, args }: Decorator, indent?: string): string {
  const line = `@${name}(${args.map(valueText).join(', ')})`
  const last = args.at(-1)
  if (indent === undefined || indent.length + line.length <= WIDTH || last === undefined) return line
  const before = args.slice(0, -1).map((one) => `${valueText(one)}, `)
  return `@${name}(${before.join('')}${brokenText(last, indent)})`
}

/** Formats an object or list with one line for each value. */
function brokenText(value: Value, indent: string): string {
  if (typeof value !== 'object' || value instanceof Sql || value instanceof Target) return valueText(value)
  const lines = isList(value)
    ? value.map(valueText)
    : Object.entries(value).map(([name, one]) => `${name}: ${valueText(one)}`)
  const [open, close] = isList(value) ? '[]' : '{}'
  return `${open ?? ''}\n${lines.map((one) => `${indent}  ${one},\n`).join('')}${indent}${close ?? ''}`
}

function valueText(value: Value): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object') return String(value)
  if (value instanceof Sql) return `() => ${quoted(value.text)}`
  if (value instanceof Target) return `() => ${value.name}`
  if (isList(value)) return `[${value.map(valueText).join(', ')}]`
  return `{ ${Object.entries(value)
    .map(([name, one]) => `${name}: ${valueText(one)}`)
    .join(', ')} }`
}

const isList = (value: Value): value is readonly Value[] => Array.isArray(value)
