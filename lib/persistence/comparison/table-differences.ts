import {
  foreignKeyShape,
  type LiveCheck,
  type LiveColumn,
  type LiveForeignKey,
  type LiveIndex,
  type LiveTable,
  shapeOf,
} from '../dialects/catalog/live-table.js'
import type {
  ColumnDefinition,
  ForeignKeyDefinition,
  IndexDefinition,
  TableDefinition,
} from '../dialects/catalog/table-definition.js'
import { indexName } from '../schema/index-name.js'
import { tableText } from '../schema/table-name-of.js'
import type { ComparedDialect } from './expected-table.js'

/** A difference between a table of a database and the model. */
export type Difference =
  | { readonly kind: 'noTable' }
  | { readonly kind: 'fault'; readonly text: string }
  | { readonly kind: 'addColumn'; readonly column: ColumnDefinition }
  | {
      readonly kind: 'generated' | 'unminted' | 'type' | 'collation' | 'nullable'
      readonly column: ColumnDefinition
      readonly live: LiveColumn
    }
  /** The model's default is missing or different. `wanted` is the default in the catalog's format. */
  | {
      readonly kind: 'default'
      readonly column: ColumnDefinition
      readonly live: LiveColumn
      readonly wanted: string
    }
  /** A default that is only needed while older images omit a required column. */
  | { readonly kind: 'spareDefault'; readonly column: ColumnDefinition; readonly live: LiveColumn }
  /** A column that the model does not have. `to` is its new name if the model renames it. */
  | { readonly kind: 'extraColumn'; readonly live: LiveColumn; readonly to: ColumnDefinition | undefined }
  | { readonly kind: 'primaryKey'; readonly is: readonly string[]; readonly wanted: readonly string[] }
  /** A missing index. `there` is an existing index with the same name. */
  | { readonly kind: 'addIndex'; readonly index: IndexDefinition; readonly there: LiveIndex | undefined }
  | { readonly kind: 'extraIndex'; readonly index: LiveIndex; readonly isReplaced: boolean }
  /** A missing foreign key. `others` are existing foreign keys that implement the reference differently. */
  | {
      readonly kind: 'addForeignKey'
      readonly key: ForeignKeyDefinition
      readonly others: readonly LiveForeignKey[]
    }
  /** A foreign key that stands in for `wanted`. If `isThere` is set, the table has `wanted`, too. */
  | {
      readonly kind: 'extraForeignKey'
      readonly key: LiveForeignKey
      readonly wanted: ForeignKeyDefinition | undefined
      readonly isThere: boolean
    }
  | { readonly kind: 'uncheckedForeignKey'; readonly key: LiveForeignKey }
  | { readonly kind: 'uncheckedCheck'; readonly check: LiveCheck }

/**
 * Returns the differences between a table and the model, ordered so that changes can be applied in sequence.
 *
 * @param wanted - the model's table as the catalog describes it.
 * @param others - columns of the table that do not belong to the model.
 */
export function tableDifferences(
  definition: TableDefinition,
  live: LiveTable | undefined,
  wanted: LiveTable,
  dialect: ComparedDialect,
  others: readonly string[] = [],
): readonly Difference[] {
  if (live === undefined) return [{ kind: 'noTable' }]
  if (live.faults.length > 0) return live.faults.map((text) => ({ kind: 'fault', text }))
  return [
    ...columnDifferences(definition, live, wanted, dialect, others),
    ...(live.primaryKey.join() === wanted.primaryKey.join()
      ? []
      : [{ kind: 'primaryKey', is: live.primaryKey, wanted: wanted.primaryKey } as const]),
    ...indexDifferences(definition, live, wanted),
    ...foreignKeyDifferences(definition, live, wanted),
    ...live.checks
      .filter(({ isValid }) => !isValid)
      .map((check) => ({ kind: 'uncheckedCheck', check }) as const),
  ]
}

function columnDifferences(
  { columns }: TableDefinition,
  live: LiveTable,
  wanted: LiveTable,
  dialect: ComparedDialect,
  others: readonly string[],
): readonly Difference[] {
  const found = new Map(live.columns.map((column) => [column.name, column]))
  const expected = new Map(wanted.columns.map((column) => [column.name, column]))
  const known = new Set([...columns.map(({ name }) => name), ...others])
  return [
    ...columns.flatMap((column): readonly Difference[] => {
      const [there, want] = [found.get(column.name), expected.get(column.name)]
      if (there === undefined) return [{ kind: 'addColumn', column }]
      return want === undefined ? [] : columnDifference(column, there, want, dialect)
    }),
    ...live.columns
      .filter(({ name }) => !known.has(name))
      .map((column): Difference => ({
        kind: 'extraColumn',
        live: column,
        to: columns.find(({ renamedFrom }) => renamedFrom === column.name),
      })),
  ]
}

function columnDifference(
  column: ColumnDefinition,
  live: LiveColumn,
  wanted: LiveColumn,
  { catalog: { live: catalog } }: ComparedDialect,
): readonly Difference[] {
  if (column.isInternal === true) return []
  const isIdentity = column.isIdentity === true && live.isIdentity === true
  if (live.generated !== undefined && !isIdentity) return [{ kind: 'generated', column, live }]
  const differences: Difference[] = []
  if (column.isIdentity === true && !isIdentity) differences.push({ kind: 'unminted', column, live })
  if (live.type !== wanted.type) differences.push({ kind: 'type', column, live })
  else if (column.isText && !catalog.exactCollations.includes(live.collation ?? ''))
    differences.push({ kind: 'collation', column, live })
  if (live.nullable !== column.nullable) differences.push({ kind: 'nullable', column, live })
  const fallback = column.fallback ?? column.initial
  if (fallback !== undefined) {
    const text = catalog.defaultText(fallback, column.catalogType)
    // Engines format expressions differently, so only the presence of such a default is compared.
    const isThere =
      column.hasOwnDefault === true ? live.fallback !== undefined : catalog.hasDefault(live, text)
    if (!isThere) differences.push({ kind: 'default', column, live, wanted: text })
  }
  const isSpare =
    fallback === undefined &&
    !column.nullable &&
    column.filler !== undefined &&
    live.fallback === catalog.defaultText(column.filler, live.type)
  return isSpare ? [...differences, { kind: 'spareDefault', column, live }] : differences
}

function indexDifferences(
  definition: TableDefinition,
  live: LiveTable,
  wanted: LiveTable,
): readonly Difference[] {
  const shapes = new Set(wanted.indexes.map(shapeOf))
  const missing = definition.indexes.filter((index) => {
    const want = wanted.indexes.find(({ name }) => name === index.name) ?? index
    return !live.indexes.some((one) => shapeOf(one) === shapeOf(want) || isOwnPart(index, one))
  })
  const replaced = new Set(missing.map(({ name }) => name))
  return [
    ...missing.map((index): Difference => ({
      kind: 'addIndex',
      index,
      there: live.indexes.find(({ name }) => name === index.name),
    })),
    ...live.indexes
      .filter(
        (index) =>
          !isLeft(definition, index) &&
          !definition.indexes.some((own) => isOwnPart(own, index)) &&
          !shapes.has(shapeOf(index)) &&
          (replaced.has(index.name) ||
            (index.isInvalid !== true && (index.unique || isOurs(definition, index)))),
      )
      .map((index): Difference => ({ kind: 'extraIndex', index, isReplaced: replaced.has(index.name) })),
  ]
}

/**
 * Returns true if a live index is a partial index that the application declares. Conditions are not compared,
 * because engines reformat them.
 */
const isOwnPart = (own: IndexDefinition, live: LiveIndex): boolean =>
  own.hasOwnWhere === true &&
  live.where !== undefined &&
  own.name === live.name &&
  own.unique === live.unique &&
  own.columns.join() === live.columns.join()

const isLeft = ({ leftIndexes = [] }: TableDefinition, index: LiveIndex): boolean =>
  leftIndexes.some(({ name, columns }) =>
    name === undefined ? columns.join() === index.columns.join() : name === index.name,
  )

/**
 * Returns true if the name of an index is one that Ashlar generates. Other indexes are ignored unless they
 * reject rows.
 */
const isOurs = ({ name: table }: TableDefinition, { name, columns }: LiveIndex): boolean =>
  name === indexName(table, columns, 'idx')

/** Compares foreign keys. Keys on other columns are ignored unless Ashlar created them. */
function foreignKeyDifferences(
  definition: TableDefinition,
  live: LiveTable,
  wanted: LiveTable,
): readonly Difference[] {
  const keys = definition.foreignKeys.map((key): WantedForeignKey => {
    const want = wanted.foreignKeys.find(({ name }) => name === key.name)
    // A comparison does not create the tables of other modules.
    return { key, shape: foreignKeyShape(want ?? { ...key, target: tableText(key.target) }) }
  })
  const found = live.foreignKeys.map((one) => ({ one, of: keysFor(one, keys) }))
  const claimed = new Set(found.filter(({ of }) => of.length > 0).map(({ one }) => one))
  const asked = keys.flatMap((wantedKey): readonly Difference[] => {
    const { key, shape } = wantedKey
    const there = found.filter(({ of }) => of.includes(wantedKey)).map(({ one }) => one)
    const same = there.filter((one) => checkedShape(one) === shape)
    const others = there.filter((one) => checkedShape(one) !== shape)
    return [
      ...(same.length === 0 ? [{ kind: 'addForeignKey', key, others } as const] : []),
      ...same
        .filter(({ isUnchecked }) => isUnchecked)
        .map((one) => ({ kind: 'uncheckedForeignKey', key: one }) as const),
      ...others.map(
        (one) => ({ kind: 'extraForeignKey', key: one, wanted: key, isThere: same.length > 0 }) as const,
      ),
    ]
  })
  return [
    ...asked,
    ...live.foreignKeys
      .filter((one) => !claimed.has(one) && one.name === indexName(definition.name, one.columns, 'fkey'))
      .map((key): Difference => ({ kind: 'extraForeignKey', key, wanted: undefined, isThere: false })),
  ]
}

interface WantedForeignKey {
  readonly key: ForeignKeyDefinition
  readonly shape: string
}

const checkedShape = (key: LiveForeignKey): string => foreignKeyShape({ ...key, isUnchecked: false })

/**
 * Returns the model's foreign keys that an existing foreign key implements: all with the same definition, or
 * else the one with the most columns in common. Several references can share a column, such as the tenant.
 */
function keysFor(live: LiveForeignKey, keys: readonly WantedForeignKey[]): readonly WantedForeignKey[] {
  const same = keys.filter(({ shape }) => shape === checkedShape(live))
  if (same.length > 0) return same
  const positionOf = ({ key }: WantedForeignKey) => live.columns.indexOf(key.columns.at(-1) as string)
  const shared = ({ key }: WantedForeignKey) => key.columns.filter((c) => live.columns.includes(c)).length
  const [best] = keys
    .filter((key) => positionOf(key) >= 0)
    .sort((a, b) => shared(b) - shared(a) || positionOf(b) - positionOf(a))
  return best === undefined ? [] : [best]
}
