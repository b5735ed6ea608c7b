import type { Field } from '../../resource/fields/field.js'
import type { CelNode } from '../../resource/search/cel.js'
import type { Dialect } from './dialect.js'

/** Concatenates strings. */
export const joined = (parts: readonly string[], dialect: Dialect): string =>
  parts.length === 1 ? (parts[0] as string) : dialect.text.concat(parts)

/**
 * Returns SQL for a portable CEL expression. No part of it is ever NULL, so one missing value does not make
 * the whole result NULL.
 */
export function celToSql(node: CelNode, dialect: Dialect): string {
  const sql = (inner: CelNode) => celToSql(inner, dialect)
  const text = (value: string) => dialect.text.literal(value)
  switch (node.kind) {
    case 'text':
      return text(node.value)
    case 'bool':
      return node.value ? '(1 = 1)' : '(1 = 0)'
    case 'field':
      return `COALESCE(${textOf(node.field, dialect)}, ${text(node.absent ?? '')})`
    case 'flag':
      return `(COALESCE(${dialect.text.quote(node.field.column)}, FALSE) = TRUE)`
    case 'numeric':
      return `COALESCE(${dialect.text.quote(node.field.column)}, 0)`
    case 'number':
      return node.text
    case 'name':
      throw new TypeError(`${node.text} must be one side of a comparison`)
    case 'less':
      return `(${sql(node.left)} ${node.operator} ${sql(node.right)})`
    case 'entry':
      return `COALESCE(${dialect.values.tags.value(dialect.text.quote(node.field.column), node.key, text)}, '')`
    case 'join':
      return joined(node.parts.map(sql), dialect)
    case 'lookup': {
      const cases = node.entries.map(([key, value]) => `WHEN ${text(key)} THEN ${text(value)}`)
      return cases.length === 0 ? "''" : `(CASE ${sql(node.key)} ${cases.join(' ')} ELSE '' END)`
    }
    case 'if':
      return `(CASE WHEN ${sql(node.test)} THEN ${sql(node.then)} ELSE ${sql(node.otherwise)} END)`
    case 'same':
      return `(${sql(node.left)} ${node.negated ? '<>' : '='} ${sql(node.right)})`
    case 'all':
      return `(${node.parts.map(sql).join(' AND ')})`
    case 'any':
      return `(${node.parts.map(sql).join(' OR ')})`
    case 'not':
      return `(NOT ${sql(node.node)})`
    case 'lower':
      return `LOWER(${sql(node.node)})`
    case 'replace':
      return `REPLACE(${sql(node.node)}, ${text(node.search)}, ${text(node.replacement)})`
  }
}

/** Returns the column as a string. An enum type of the engine cannot be compared with other strings. */
const textOf = (field: Field, dialect: Dialect): string => {
  const name = dialect.text.quote(field.column)
  return dialect.values.kinds[field.kind].ordered?.(name, field) ?? name
}
