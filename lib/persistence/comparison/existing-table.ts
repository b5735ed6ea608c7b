import type { TableDifference, TableNote } from '../../text/table-difference.js'
import { kindOf } from '../../resource/kinds/kinds.js'
import type { Field } from '../../resource/fields/field.js'
import { isOwning, type Relation } from '../../resource/relations/relation.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { type InexactColumn, inexactText } from '../dialects/catalog/inexact-columns.js'
import {
  foreignKeyShape,
  type LiveColumn,
  type LiveForeignKey,
  type LiveTable,
  shapeOf,
} from '../dialects/catalog/live-table.js'
import type { ColumnDefinition, TableDefinition } from '../dialects/catalog/table-definition.js'
import { tableText } from '../schema/table-name-of.js'
import type { ComparedDialect } from './expected-table.js'
import { shownDifference } from './shown-difference.js'
import type { Difference } from './table-differences.js'

/** The differences between the model and another application's table. */
export interface ExistingTable {
  /** Differences that affect isolation or values. */
  readonly differences: readonly TableDifference[]
  /** Harmless differences. */
  readonly notes: readonly TableNote[]
}

/**
 * Sorts the differences between an existing table and the model by their effect.
 *
 * @param inexact - the columns that identify a row or its owner but treat different strings as equal.
 */
export function existingTable(
  model: ResourceModel,
  definition: TableDefinition,
  live: LiveTable,
  found: readonly Difference[],
  inexact: readonly InexactColumn[],
  dialect: ComparedDialect,
): ExistingTable {
  const table = tableText(definition)
  const differences: TableDifference[] = [
    ...inexact.map((one) => ({
      kind: one.effect === undefined ? 'collation' : 'type',
      table,
      column: one.column,
      text: `${table}.${one.column} ${inexactText(one)}`,
      detail: one.advice,
    })),
    ...uniqueness(definition, live, table),
  ]
  const notes: TableNote[] = [...keyNotes(model, live, table), ...reachingNotes(model, definition, live)]
  const fieldOf = (name: string) => model.fields.find(({ column }) => column === name)
  const wrong = new Set(inexact.map(({ column }) => column))
  for (const one of found) {
    const note = noteOf(one, model, fieldOf, definition, live, wrong)
    if (note !== undefined) notes.push({ kind: one.kind, table, ...note })
    else if (needsNothing(one, fieldOf, wrong, dialect)) continue
    else differences.push(...[shown(one, model, definition, dialect) ?? []].flat())
  }
  return { differences, notes }
}

/**
 * Reports a missing unique index on the primary key or a part of it. Reads and writes rely on the key finding
 * one row.
 */
function uniqueness({ primaryKey }: TableDefinition, live: LiveTable, table: string): TableDifference[] {
  const isHeld = uniqueParts(live).some((columns) => columns.every((column) => primaryKey.includes(column)))
  const text = `${table} has no unique index on (${primaryKey.join(', ')}), or on a part of it`
  return isHeld ? [] : [{ kind: 'primaryKey', table, text, detail: 'two rows may have the same key' }]
}

/** Returns the columns of the primary key and of each unique index that covers all rows. */
const uniqueParts = ({ primaryKey, indexes }: LiveTable): readonly (readonly string[])[] =>
  [
    primaryKey,
    ...indexes
      .filter((index) => index.unique && index.where === undefined && index.isInvalid !== true)
      .map(({ columns }) => columns),
  ].filter(({ length }) => length > 0)

function keyNotes({ tenant, key }: ResourceModel, { primaryKey }: LiveTable, table: string): TableNote[] {
  if (tenant === undefined || primaryKey.length === 0 || primaryKey.includes(tenant.column)) return []
  // The database generates the key, so a caller cannot choose a used one.
  if (key.isIdentity === true && primaryKey.includes(key.column)) return []
  const text = `the primary key of ${table} is (${primaryKey.join(', ')}), without the tenant`
  return [
    {
      kind: 'primaryKey',
      table,
      text,
      detail: 'a create reveals that a key is taken, even by another tenant',
    },
  ]
}

/**
 * Returns notes about foreign keys without the tenant that change or delete rows. References to shared
 * resources never contain the tenant.
 */
function reachingNotes({ tenant }: ResourceModel, definition: TableDefinition, live: LiveTable): TableNote[] {
  const table = tableText(definition)
  const isToShared = ({ columns }: LiveForeignKey) =>
    definition.foreignKeys.some((key) => key.columns.join() === columns.join())
  return live.foreignKeys.flatMap((key): TableNote[] => {
    const { name, columns, onDelete = 'RESTRICT' } = key
    if (tenant === undefined || columns.includes(tenant.column)) return []
    if (onDelete === 'RESTRICT' || isToShared(key)) return []
    const does = onDelete === 'CASCADE' ? 'removes' : 'changes'
    return [
      {
        kind: 'foreignKeyWithoutTenant',
        table,
        text: `the foreign key ${name} of ${table} is ${foreignKeyShape(key)}, without the tenant`,
        detail: `a delete of the referenced row also ${does} the rows of other tenants that refer to it: add the tenant column to the key, or use ON DELETE RESTRICT`,
      },
    ]
  })
}

/** Returns the note for a difference that does not affect isolation or values, with its consequence. */
function noteOf(
  one: Difference,
  { tenant }: ResourceModel,
  fieldOf: (name: string) => Field | undefined,
  definition: TableDefinition,
  live: LiveTable,
  wrong: ReadonlySet<string>,
): Pick<TableNote, 'column' | 'text' | 'detail'> | undefined {
  const table = tableText(definition)
  switch (one.kind) {
    case 'collation': {
      const { name } = one.column
      const field = fieldOf(name)
      const isDeclared = field?.collation !== undefined
      if (wrong.has(name) || (isIdentifying(field) && !isDeclared)) return undefined
      const text = `${table}.${name} has the collation ${one.live.collation ?? 'of its type'}`
      return {
        column: name,
        text,
        detail: isDeclared ? COMPARED_EXACTLY : 'filters and sort orders on it use that collation',
      }
    }
    case 'type': {
      const { column, live } = one
      const ofTime = timeNote(fieldOf(column.name), live.type)
      if (ofTime !== undefined)
        return { column: column.name, text: `${table}.${column.name} is ${live.type}`, detail: ofTime }
      if (!isShorterText(one, fieldOf(column.name))) return undefined
      const text = `${table}.${column.name} is ${live.type}, but the model allows ${column.catalogType}`
      return { column: column.name, text, detail: 'longer values are rejected' }
    }
    case 'nullable': {
      const { name } = one.column
      if (name !== tenant?.column) return undefined
      return { column: name, text: `${table}.${name} takes NULL`, detail: REACHED_BY_NO_CALL }
    }
    case 'extraIndex': {
      const { index } = one
      if (!index.unique || tenant === undefined || index.columns.includes(tenant.column)) return undefined
      const text = `the index ${index.name} of ${table} is ${shapeOf(index)}, without the tenant`
      return {
        text,
        detail: 'a conflict reveals that a value is taken, even by another tenant, and names no field',
      }
    }
    case 'addIndex': {
      const { index } = one
      const text = `${table} lacks the index ${index.name} ${shapeOf(index)}`
      if (!index.unique) return { text, detail: 'a list may read more rows' }
      const part = uniqueParts(live).find((columns) =>
        columns.every((column) => index.columns.includes(column)),
      )
      const detail =
        part === undefined
          ? 'nothing enforces that its values are unique'
          : `(${part.join(', ')}) alone is unique; lists, and foreign keys of tenant and reference, use it`
      return { text, detail }
    }
    case 'addForeignKey': {
      const shape = foreignKeyShape({ ...one.key, target: tableText(one.key.target) })
      const text = `${table} lacks the foreign key ${one.key.name} ${shape}`
      return { text, detail: 'only repositories keep the reference within its tenant' }
    }
    default:
      return undefined
  }
}

const COMPARED_EXACTLY = 'it is still compared by code point, but no index serves a sort order on it'

export const REACHED_BY_NO_CALL = 'no call reaches a row without a tenant'

/** Returns true if neither rows nor calls depend on a column's difference. */
function needsNothing(
  one: Difference,
  fieldOf: (name: string) => Field | undefined,
  wrong: ReadonlySet<string>,
  { values: { kinds } }: ComparedDialect,
): boolean {
  switch (one.kind) {
    case 'noTable':
    case 'fault':
    case 'addColumn':
      return false
    case 'generated':
      return fieldOf(one.column.name)?.generated === true
    case 'type': {
      const field = fieldOf(one.column.name)
      if (field === undefined || wrong.has(field.column)) return true
      return kinds[field.kind].keeps(field, one.live.baseType ?? one.live.type)
    }
    case 'collation':
      // The exact comparison is checked separately.
      return true
    case 'nullable': {
      const field = fieldOf(one.column.name)
      return field?.nullIsZero === true || field?.generated === true
    }
    case 'extraColumn': {
      const { nullable, fallback, generated } = one.live
      return nullable || fallback !== undefined || generated !== undefined
    }
    default:
      return true
  }
}

/**
 * Describes a difference as for a table of the model, without the changes that Ashlar does not make to
 * another application's table.
 */
function shown(
  one: Difference,
  { relations }: ResourceModel,
  definition: TableDefinition,
  dialect: ComparedDialect,
): TableDifference | undefined {
  const difference = shownDifference(one, definition, dialect)
  if (difference === undefined) return undefined
  const { next: _, statement: _s, fill: _f, detail: _d, ...rest } = difference
  switch (one.kind) {
    case 'noTable':
      return { ...rest, detail: 'create it in the application that owns the table' }
    case 'nullable':
      return { ...rest, detail: `declare ${nullableText(one.live.nullable, one.column.name, relations)}` }
    case 'type':
      return { ...rest, detail: "declare the column's type" }
    case 'generated':
      return { ...rest, detail: 'declare @OutputOnly({ generated: true })' }
    case 'extraColumn':
      return {
        ...rest,
        text: `${tableText(definition)}.${one.live.name} is required but not in the model`,
        detail: 'every create is rejected until it has a default or is declared',
      }
    case 'addColumn':
      return {
        ...rest,
        detail: 'remove its property, or add it in your own migration',
      }
    default:
      return rest
  }
}

/** Describes the effect of a time type that a new table would not use. */
function timeNote(field: Field | undefined, type: string): string | undefined {
  if (field === undefined || !kindOf(field).declared.fits(Date, false)) return undefined
  if (/^timestamp(?:\(\d\))? without time zone$/.test(type))
    return "its times are UTC, but TypeORM's own manager writes times in the process's zone"
  if (/^datetime(?:\([0-5]\))?$/.test(type)) return 'a time keeps that many fractional digits'
  return /^timestamp(?:\(\d\))?$/.test(type) ? 'it cannot store times after 2038' : undefined
}

const isIdentifying = (field: Field | undefined): boolean => field?.role === 'key' || field?.role === 'tenant'

/** Returns true for a string column whose maximum length is shorter than the model's. */
const isShorterText = (
  { column, live }: { readonly column: ColumnDefinition; readonly live: LiveColumn },
  field: Field | undefined,
): boolean =>
  field !== undefined &&
  column.isText &&
  (kindOf(field).isText || kindOf(field).isStoredAsText) &&
  !isIdentifying(field) &&
  /^(?:character varying|varchar|text|(?:tiny|medium|long)text)\b/i.test(live.type)

/** Returns the decorator that declares whether a column accepts NULL. */
function nullableText(nullable: boolean, column: string, relations: readonly Relation[]): string {
  const hidden = relations.find((one) => isOwning(one) && one.isHidden && one.reference.column === column)
  if (hidden === undefined) return `@Column({ nullable: ${String(nullable)} })`
  const relation = hidden.kind === 'one-to-one' ? 'OneToOne' : 'ManyToOne'
  return `@${relation}(…, { nullable: ${String(nullable)} }) on ${hidden.property}`
}
