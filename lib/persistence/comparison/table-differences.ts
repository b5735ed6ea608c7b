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

/** One way in which a table of a database is not what the model says. */
export type Difference =
  | { readonly kind: 'noTable' }
  | { readonly kind: 'fault'; readonly text: string }
  | { readonly kind: 'addColumn'; readonly column: ColumnDefinition }
  | {
      readonly kind: 'generated' | 'unminted' | 'type' | 'collation' | 'nullable'
      readonly column: ColumnDefinition
      readonly live: LiveColumn
    }
  /** The model's default is missing, or another. `wanted` is as the catalog has it. */
  | {
      readonly kind: 'default'
      readonly column: ColumnDefinition
      readonly live: LiveColumn
      readonly wanted: string
    }
  /** The default that let older images leave a required column out. */
  | { readonly kind: 'spareDefault'; readonly column: ColumnDefinition; readonly live: LiveColumn }
  /** `to` is the column that it is called now, if any. */
  | { readonly kind: 'extraColumn'; readonly live: LiveColumn; readonly to: ColumnDefinition | undefined }
  | { readonly kind: 'primaryKey'; readonly is: readonly string[]; readonly wanted: readonly string[] }
  /** `there` has its name. */
  | { readonly kind: 'addIndex'; readonly index: IndexDefinition; readonly there: LiveIndex | undefined }
  | { readonly kind: 'extraIndex'; readonly index: LiveIndex; readonly isReplaced: boolean }
  /** `others` hold the reference in another way. */
  | {
      readonly kind: 'addForeignKey'
      readonly key: ForeignKeyDefinition
      readonly others: readonly LiveForeignKey[]
    }
  /** `wanted` is the one in whose place it is; with `isThere` the table has that one, too. */
  | {
      readonly kind: 'extraForeignKey'
      readonly key: LiveForeignKey
      readonly wanted: ForeignKeyDefinition | undefined
      readonly isThere: boolean
    }
  | { readonly kind: 'uncheckedForeignKey'; readonly key: LiveForeignKey }
  | { readonly kind: 'uncheckedCheck'; readonly check: LiveCheck }

/**
 * The differences of a table from the model, in an order that changes can follow.
 * @param wanted - the table of the model as the catalog describes it, or would.
 * @param others - columns of the table that do not belong to fields of the model.
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
    // Each engine has its own way of writing an expression.
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

/** True if a live index is one that an application declares for some rows. Engines word conditions anew. */
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

/** True if the framework named the index. An index of another origin is ignored unless it rejects rows. */
const isOurs = ({ name: table }: TableDefinition, { name, columns }: LiveIndex): boolean =>
  name === indexName(table, columns, 'idx')

/** Foreign keys of other columns are ignored unless the framework created them. */
function foreignKeyDifferences(
  definition: TableDefinition,
  live: LiveTable,
  wanted: LiveTable,
): readonly Difference[] {
  const keys = definition.foreignKeys.map((key): WantedForeignKey => {
    const want = wanted.foreignKeys.find(({ name }) => name === key.name)
    // Tables of other modules are not made for a comparison.
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
 * The model's keys that a table's foreign key implements: those with its definition, or the one with most of
 * its columns. Several references can share a column, such as the tenant's.
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
