import { type Problem, propertyProblem } from '../../errors.js'
import { NO_TENANT, type TenantDeclaration } from '../../../decorators/tenant-scoped.js'
import type { Field } from './field.js'
import { shownProperty } from './property-form.js'

/**
 * Beside the rows of a soft-deletable resource with unique rules, where an index has no condition: `''` while
 * a row lives and its key once it is deleted.
 */
export const SOFT_DELETE_KEY = 'soft_delete_key'

/** The most bytes of a name in PostgreSQL, which cuts a longer one. */
const MAX_BYTES = 63

/** The system columns that PostgreSQL has for each row. */
const SYSTEM_COLUMNS: ReadonlySet<string> = new Set(['ctid', 'tableoid', 'xmin', 'xmax', 'cmin', 'cmax'])

/**
 * The names under which an engine would keep the values of a field elsewhere, or not at all. They are the
 * same on each engine, so that an entity can move.
 */
export function columnNameProblems(fields: readonly Field[]): Problem[] {
  const known = new Map<string, Field>()
  return fields.flatMap((field) => {
    const { property, column } = field
    const name = shownProperty(property)
    const say = (rule: string, advice?: string) => [propertyProblem('column', property, rule, advice)]
    const why = unusable(column)
    if (why !== undefined) return say(`${name}: its column ${JSON.stringify(column)} ${why}`, NAME_IT)
    const other = known.get(folded(column))
    if (other === undefined) known.set(folded(column), field)
    if (other === undefined) return []
    return other.column === column
      ? say(`${shownProperty(other.property)} and ${name} share the column ${column}`, NAME_IT)
      : say(
          `${name}: its column ${column} differs from ${other.column} of ${other.property} only in case or accents, which MySQL and SQLite ignore`,
          NAME_IT,
        )
  })
}

const NAME_IT = 'write @Column({ name: ... })'

/** Two properties that a mask, a filter or an order could not tell apart. */
export function fieldNameProblems(fields: readonly Pick<Field, 'property' | 'proto'>[]): Problem[] {
  const known = new Map<string, Pick<Field, 'property' | 'proto'>>()
  return fields.flatMap((field) => {
    const { property, proto } = field
    const say = (rule: string) => [propertyProblem('column', property, rule, 'give it another name')]
    if (proto === '*') return say(`${property}: a mask that names * means all fields`)
    const other = known.get(proto)
    if (other === undefined) known.set(proto, field)
    return other === undefined ? [] : say(`${property}: ${other.property} is already the field ${proto}`)
  })
}

/** Columns that identify rows must be properties with these names. */
const RESERVED: Readonly<Record<string, string>> = {
  account_id: 'accountId',
  delete_time: 'deleteTime',
  deleted_at: 'deleteTime',
  expire_time: 'expireTime',
}

/** A column that the framework would be meant to see, and does not. @param tenant - of the entity. */
export function misnamedColumn(
  property: string,
  name: string,
  field: Field | Problem,
  tenant: TenantDeclaration,
): Problem[] {
  const isTheirs = name === 'account_id' && (tenant.named.length > 0 || tenant.property === NO_TENANT)
  const expected = Object.hasOwn(RESERVED, name) && !isTheirs ? RESERVED[name] : undefined
  const isKnown = expected === property || ('role' in field && field.role === expected)
  return expected === undefined || isKnown
    ? []
    : [
        propertyProblem(
          'column',
          property,
          `${property}: the column ${name} must be the property ${expected}, otherwise the framework does not recognize it`,
        ),
      ]
}

/** Why no field may have a column of the name. @param holds - what the framework keeps there. */
export function reservedColumn(fields: readonly Field[], name: string, holds: string): Problem[] {
  const taken = fields.find(({ column }) => folded(column) === folded(name))
  if (taken === undefined) return []
  const rule = `${shownProperty(taken.property)}: the framework stores ${holds} in the column ${name}`
  return [propertyProblem('column', taken.property, rule, 'name another column')]
}

function unusable(column: string): string | undefined {
  if (column === '') return 'has no name'
  if (!column.isWellFormed() || column.includes('\0')) return 'contains a character that a name cannot have'
  if (/[\u{10000}-\u{10ffff}]/u.test(column)) return 'contains a character that a MySQL name cannot contain'
  if (column.endsWith(' ')) return 'ends with a space, which is not allowed in a MySQL name'
  if (Buffer.byteLength(column) > MAX_BYTES)
    return `is longer than the ${MAX_BYTES} bytes of a PostgreSQL name`
  if (SYSTEM_COLUMNS.has(column)) return 'is a column that PostgreSQL adds to each table'
  // Rows of SQLite are objects: numbers come first in them, and this is not a property.
  if (/^(0|[1-9]\d*)$/.test(column))
    return 'is a number, which changes the order of properties in SQLite rows'
  // The driver of MySQL refuses them too.
  return column.startsWith('__') && column in Object.prototype ? 'is a property of every object' : undefined
}

/** As MySQL compares names: without case and accents. */
const folded = (column: string): string =>
  column.normalize('NFKD').replace(/\p{M}/gu, '').toUpperCase().replaceAll('SS', 'S')
