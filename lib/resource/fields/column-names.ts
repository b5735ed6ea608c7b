import { type Problem, propertyProblem } from '../../errors.js'
import { NO_TENANT, type TenantDeclaration } from '../../../decorators/tenant-scoped.js'
import type { Field } from './field.js'
import { shownProperty } from './property-form.js'

/**
 * A column of soft-deletable resources with unique rules, on engines without conditional indexes. It contains
 * `''` while a row is live and the row's key once it is deleted.
 */
export const SOFT_DELETE_KEY = 'soft_delete_key'

/** The maximum length of a name in bytes. PostgreSQL truncates longer names. */
const MAX_BYTES = 63

/** PostgreSQL's system columns. */
const SYSTEM_COLUMNS: ReadonlySet<string> = new Set(['ctid', 'tableoid', 'xmin', 'xmax', 'cmin', 'cmax'])

/**
 * Returns a problem for each column name under which an engine would not store a field's values. All engines
 * have the same rules, so that an entity can move between them.
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

/** Returns a problem for each two properties that masks, filters and sort orders could not distinguish. */
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

/** Columns that identify rows, with the property names that they must have. */
const RESERVED: Readonly<Record<string, string>> = {
  account_id: 'accountId',
  delete_time: 'deleteTime',
  deleted_at: 'deleteTime',
  expire_time: 'expireTime',
}

/**
 * Returns the problem of a column that resembles one of the framework's, such as the tenant column, but is
 * not declared as it.
 * @param tenant - the tenant of the entity.
 */
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

/**
 * Returns a problem if a field uses a reserved column name.
 * @param holds - the framework's use of the column.
 */
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
  // The SQLite driver returns rows as objects, in which numeric names come first and `__proto__` is not a
  // property.
  if (/^(0|[1-9]\d*)$/.test(column))
    return 'is a number, which changes the order of properties in SQLite rows'
  // MySQL's driver rejects these names.
  return column.startsWith('__') && column in Object.prototype ? 'is a property of every object' : undefined
}

/** Normalizes a name as MySQL does, without case and accents. */
const folded = (column: string): string =>
  column.normalize('NFKD').replace(/\p{M}/gu, '').toUpperCase().replaceAll('SS', 'S')
