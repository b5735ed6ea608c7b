import { ErrConflict, type ErrPreconditionFailed, Internal, InvalidArgument } from '../../errors.js'
import { refusedColumnOf } from '../../faults/refused-column.js'
import { type ViolatedIndex, violatedIndexOf } from '../../faults/violated-index.js'
import { violatedReferenceOf } from '../../faults/violated-reference.js'
import { DriverFault, withoutValues } from '../../faults/driver-fault.js'
import { SOFT_DELETE_KEY } from '../../resource/fields/column-names.js'
import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { kindOf } from '../../resource/kinds/kinds.js'
import { ruleNames } from '../../resource/index-groups.js'
import { missingTenant } from '../../resource/relations/missing-target.js'
import { isOfTenant, isOwning } from '../../resource/relations/relation.js'
import type { Dialect } from '../dialects/dialect.js'
import type { IndexDefinition, TableDefinition, TableName } from '../dialects/catalog/table-definition.js'
import { driverErrors } from '../engines/errors/driver-errors.js'
import { tableOf } from './table-of.js'

/** PostgreSQL's program_limit_exceeded. */
const TOO_LONG = '54000'
/** PostgreSQL's string_data_right_truncation, which does not name the column. */
const TRUNCATED = '22001'
const OUT_OF_RANGE = '22003'

/** Determines the fields of an index that rejected a write. Only used after a failed write. */
export class IndexErrors {
  #definition: TableDefinition | undefined

  constructor(
    private readonly model: ResourceModel,
    private readonly dialect: Dialect,
    private readonly table: TableName,
  ) {}

  /**
   * Returns the error for a violated unique index. A duplicate generated key is an internal error, because
   * its sequence is behind the existing keys.
   *
   * @param error - the driver's error.
   */
  conflict(error: unknown): ErrConflict | Internal {
    const violated = violatedIn(error)
    const columns = (violated && this.#columnsOf(violated)) ?? []
    const { key, tenant } = this.model
    const isKey = columns.every((column) => column === key.column || column === tenant?.column)
    if (key.isIdentity === true && columns.includes(key.column) && isKey)
      return new Internal(
        new RangeError(
          `${this.table.name}.${key.column}: the database generated a number that a row already has, so its sequence is behind the rows`,
          { cause: withoutValues(error) },
        ),
      )
    const known = violated?.columns ?? (violated && this.#known.find(isNamed(violated))?.columns)
    const excludesKey = known !== undefined && !known.includes(key.column)
    return new ErrConflict(withoutValues(error), this.#names(columns), false, excludesKey)
  }

  /**
   * Returns the error for values that are too long for an index, or undefined for other errors. Column
   * lengths do not prevent this.
   */
  tooLong(error: unknown): InvalidArgument | undefined {
    if (!driverErrors(error).some(({ code }) => code === TOO_LONG)) return undefined
    const violated = violatedIn(error)
    if (violated === undefined) return undefined
    const columns = this.#columnsOf(violated) ?? this.#onlyUnbounded()
    const [field, ...others] = columns === undefined ? [] : this.#names(columns)
    const cause = withoutValues(error)
    if (field === undefined)
      return new InvalidArgument('', 'a value is too long for the database to index', cause)
    const together = others.length === 0 ? '' : `, together with ${others.join(', ')},`
    return new InvalidArgument(field, `is too long${together} for the database to index`, cause)
  }

  /**
   * Returns the error for a value that is valid in the model but does not fit its narrower column, or
   * undefined for other errors.
   */
  unfit(error: unknown): InvalidArgument | undefined {
    for (const { thrown, code } of driverErrors(error)) {
      // The number that is out of range may have been generated.
      if (code === TRUNCATED || (code === OUT_OF_RANGE && this.model.key.isIdentity !== true))
        return new InvalidArgument('', 'a value cannot be stored in its column', withoutValues(error))
      const column = thrown instanceof DriverFault ? thrown.refusedColumn : refusedColumnOf(thrown)
      const field = this.model.fields.find((one) => one.column === column && one.isIdentity !== true)
      if (field !== undefined)
        return new InvalidArgument(
          field.proto,
          'is a value that its column cannot store',
          withoutValues(error),
        )
    }
    return undefined
  }

  /**
   * Returns the error for a missing target that only the database checks, such as a row without a resource or
   * a tenant. Returns undefined for other errors. SQLite does not report the foreign key, so the error names
   * it only if the write has references.
   */
  missing(error: unknown, isReferring?: boolean): InvalidArgument | ErrPreconditionFailed | undefined {
    if (isReferring === false) return undefined
    const { tenant, relations } = this.model
    const owners = relations.filter(isOwning).filter(isOfTenant)
    const references = new Set([
      ...this.model.internal().references,
      ...owners.map(({ reference }) => reference),
    ])
    for (const { thrown } of driverErrors(error)) {
      const violated = thrown instanceof DriverFault ? thrown.violatedReference : violatedReferenceOf(thrown)
      if (violated === undefined || (violated.table ?? this.table.name) !== this.table.name) continue
      const { columns } = violated
      if (columns === undefined && isReferring === undefined) continue
      const found =
        columns === undefined
          ? [...references]
          : [...references].filter(
              (one) => columns.includes(one.column) && (one !== tenant || columns.length === 1),
            )
      const [field, another] = found
      if (field === undefined || another !== undefined) continue
      const cause = withoutValues(error)
      return field === tenant
        ? missingTenant(field, cause)
        : new InvalidArgument(field.proto, `there is no such ${named(field)}`, cause)
    }
    return undefined
  }

  /**
   * Returns the columns of the index that must be affected, if only one contains a string column without a
   * maximum length.
   */
  #onlyUnbounded(): readonly string[] | undefined {
    const unbounded = this.model.fields.filter(
      (field) => kindOf(field).isText && field.maxLength === undefined,
    )
    const found = this.#table.indexes.filter(({ columns }) =>
      unbounded.some(({ column }) => columns.includes(column)),
    )
    return found.length === 1 ? found[0]?.columns : undefined
  }

  get #table(): TableDefinition {
    return (this.#definition ??= tableOf(this.model, this.dialect, this.table))
  }

  get #known(): readonly Pick<IndexDefinition, 'name' | 'columns'>[] {
    const { name, indexes, primaryKey } = this.#table
    return [
      ...indexes,
      ...PRIMARY_KEYS(name).map((key) => ({ name: key, columns: primaryKey })),
      ...typeormsNames(this.model, name, indexes),
    ]
  }

  #columnsOf(violated: ViolatedIndex): readonly string[] | undefined {
    const { table, columns } = violated
    if (table !== undefined && table !== this.#table.name) return undefined
    const isSame = (one: readonly string[]) =>
      columns !== undefined && one.length === columns.length && one.every((text) => columns.includes(text))
    const same = this.#known.find((one) => isSame(one.columns))
    // In another application's table, an index with the declared name may not include the tenant.
    if (same !== undefined || this.model.existing) return same?.columns
    return this.#known.find(isNamed(violated))?.columns
  }

  /**
   * Returns the field names for an error. Returns none if the index spans tenants, because the field would
   * reveal another tenant's values. Returns none, too, if the column's collation or type treats different
   * values as equal.
   */
  #names(columns: readonly string[]): readonly string[] {
    const { tenant, fields } = this.model
    if (tenant !== undefined && !columns.includes(tenant.column)) return []
    const byColumn = new Map(fields.map((field) => [field.column, field]))
    if (columns.some((column) => byColumn.get(column)?.collation !== undefined)) return []
    return ruleNames(columns.flatMap((column): Field | readonly Field[] => byColumn.get(column) ?? []))
  }
}

/** Returns a readable name: `owner` for `owner_id`. */
const named = ({ proto }: Field): string => proto.replace(/_id$/, '').replaceAll('_', ' ')

function violatedIn(error: unknown): ViolatedIndex | undefined {
  for (const { thrown } of driverErrors(error)) {
    const violated = thrown instanceof DriverFault ? thrown.violatedIndex : violatedIndexOf(thrown)
    if (violated !== undefined) return violated
  }
  return undefined
}

/** Returns the name that TypeORM gives a unique index if the entity names its columns. */
const typeormsNames = (
  { strategy }: ResourceModel,
  table: string,
  indexes: TableDefinition['indexes'],
): readonly Pick<IndexDefinition, 'name' | 'columns'>[] =>
  indexes.flatMap(({ columns, unique }) => {
    if (strategy === undefined || !unique) return []
    const declared = columns.filter((column) => column !== SOFT_DELETE_KEY)
    return [
      strategy.uniqueConstraintName(table, declared),
      strategy.indexName(table, declared),
      strategy.relationConstraintName(table, declared),
    ].map((name) => ({ name, columns }))
  })

/** Returns a test for an index's name. MySQL 8 prefixes it with the table. */
const isNamed =
  ({ name }: ViolatedIndex) =>
  (index: Pick<IndexDefinition, 'name'>): boolean =>
    name !== undefined && (name === index.name || name.endsWith(`.${index.name}`))

/** Returns the names that engines give to a table's primary key. */
const PRIMARY_KEYS = (table: string): readonly string[] => ['PRIMARY', `${table}_pkey`]
