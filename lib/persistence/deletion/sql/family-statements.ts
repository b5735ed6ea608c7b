import { BoundedCache } from '../../../bounded-cache.js'
import type { Field } from '../../../resource/fields/field.js'
import { keyPartOf } from '../../../resource/keys/key-part.js'
import type { LockClause } from '../../contract/row-lock.js'
import type { TableName } from '../../dialects/catalog/table-definition.js'
import type { Dialect } from '../../dialects/dialect.js'
import { quoteTable } from '../../dialects/quote-table.js'
import {
  amongAllSql,
  amongSql,
  exactSql,
  isOfTenant,
  keyTextSql,
  writtenSql,
} from '../../dialects/column-sql.js'
import { partSql } from '../../dialects/values/part-sql.js'
import { toPredicate } from '../../dialects/to-predicate.js'
import { named, plannedByValue } from '../../engines/executor/named.js'
import type { Row, Statement } from '../../engines/executor/executor.js'
import type { FilterNode, PlanColumn, PlanValue } from '../../query/query-plan.js'
import { DELETE_ID, type Member } from '../rules/family.js'
import type { StoredRow } from '../rules/stored-rows.js'

/** A statement with its values. */
export interface Bound {
  readonly statement: Statement
  readonly values: readonly unknown[]
}

/** Conditions that select rows. All of them apply. */
export interface RowsAsked {
  readonly tenant?: string | undefined
  readonly keys?: readonly string[]
  readonly among?: { readonly field: Field; readonly keys: readonly string[] }
  readonly state?: 'live' | 'deleted' | 'all' | { readonly deleteId: string }
  readonly where?: FilterNode | undefined
  readonly expired?: { readonly before: Date; readonly after: StoredRow | undefined }
  /** If set, orders rows by delete time, latest first. */
  readonly isLatestFirst?: true
}

/** The columns to write with their values. `undefined` writes NULL. */
export type Written = readonly (readonly [column: PlanColumn, value: unknown])[]

const CACHED_STATEMENTS = 500

const DELETE_ID_COLUMN: PlanColumn = { column: DELETE_ID, kind: 'string', nullable: true }
const FOR_WRITE: LockClause = { lock: 'update', wait: 'block' }

/** Builds the statements that read and write the rows of a resource with relations. */
export class FamilyStatements {
  readonly #statements = new BoundedCache<string, Statement>(CACHED_STATEMENTS, 'family_statements')
  readonly #table: string
  readonly #columns: string
  /** Converts the selected key and references to strings, in the order of the select list. */
  readonly #read: readonly ((stored: unknown) => string)[]
  readonly #tenant: ((stored: unknown) => string) | undefined
  readonly #deletionOf: (stored: unknown) => string | undefined

  constructor(
    private readonly member: Member,
    private readonly dialect: Dialect,
    table: TableName,
    /** The column that excludes deleted rows from unique indexes, or undefined if the table has none. */
    private readonly softDeleteKey: string | undefined,
  ) {
    this.#table = quoteTable(table, dialect)
    const { key, tenant, deleteTime } = member.model
    const reader = (field: Field) => partSql(field, dialect).read
    this.#read = [key, ...member.parents.map(({ relation }) => relation.reference)].map(reader)
    this.#tenant = tenant && reader(tenant)
    const byTime = member.undeletedBy === 'time' ? deleteTime : undefined
    const decode = byTime && dialect.values.kinds[byTime.kind].decoder(byTime)
    this.#deletionOf = (stored) => {
      const read = decode === undefined || stored === null ? stored : decode(stored)
      return read instanceof Date ? String(read.getTime()) : ((read as string | null) ?? undefined)
    }
    const columns = [
      key,
      tenant ?? 'NULL',
      deleteTime === undefined ? '0' : `CASE WHEN ${this.#name(deleteTime)} IS NULL THEN 0 ELSE 1 END`,
      byTime ?? (member.undeletedBy === 'id' ? dialect.text.quote(DELETE_ID) : 'NULL'),
      ...member.parents.map(({ relation }) => relation.reference),
    ]
    this.#columns = columns
      .map((column, at) => this.#selected(column, dialect.text.quote(`c${at}`)))
      .join(', ')
  }

  readonly rowOf = (row: Row): StoredRow => {
    const [key, tenant, isDeleted, deleteId, ...references] = row
    return {
      member: this.member,
      key: this.#read[0]?.(key) ?? '',
      tenant: this.#tenant?.(tenant),
      isDeleted: Number(isDeleted) === 1,
      deleteId: this.#deletionOf(deleteId),
      references: Object.fromEntries(
        this.member.parents.map(({ relation }, at) => [
          relation.property,
          references[at] === null ? undefined : this.#read[at + 1]?.(references[at]),
        ]),
      ),
    }
  }

  select(asked: RowsAsked, lock: LockClause | undefined, limit?: number): Bound {
    const values: unknown[] = []
    const where = this.#where(asked, values)
    const { key, tenant, deleteTime } = this.member.model
    const byKey =
      asked.expired !== undefined && tenant !== undefined
        ? `${this.#exact(tenant)}, ${this.#exact(key)}`
        : this.#exact(key)
    const order =
      asked.isLatestFirst === true && deleteTime !== undefined ? `${this.#name(deleteTime)} DESC` : byKey
    const tail = limit === undefined ? '' : ` ORDER BY ${order} LIMIT ${this.#count(values, limit)}`
    const locked = lock === undefined ? '' : this.dialect.transactions.rowLock(lock)
    return this.#found(`SELECT ${this.#columns} FROM ${this.#table} WHERE ${where}${tail}${locked}`, values)
  }

  /**
   * Counts rows under a shared lock, so that the count waits for uncommitted rows of other transactions, as
   * `select` does.
   */
  count(asked: RowsAsked, limit: number, isLocked: boolean): Bound {
    const values: unknown[] = []
    const where = this.#where(asked, values)
    const text = `SELECT 1 AS one FROM ${this.#table} WHERE ${where} LIMIT ${this.#count(values, limit)}${isLocked ? this.dialect.transactions.rowLock({ lock: 'share', wait: 'block' }) : ''}`
    return this.#found(`SELECT COUNT(*) AS n FROM (${text}) AS counted`, values)
  }

  update(written: Written, asked: RowsAsked): Bound {
    const values: unknown[] = []
    const sets = written.map(([column, value]) => {
      const [name, bound] = [this.#name(column), this.#bind(column, value, values)]
      return `${name} = ${writtenSql(this.member.model, column, name, bound, this.dialect)}`
    })
    if (this.softDeleteKey !== undefined && asked.state === 'live' && this.#deletes(written))
      sets.push(
        `${this.dialect.text.quote(this.softDeleteKey)} = ${keyTextSql(this.member.model.key, this.dialect)}`,
      )
    if (this.softDeleteKey !== undefined && asked.state === 'deleted' && this.#deletes(written))
      sets.push(`${this.dialect.text.quote(this.softDeleteKey)} = ''`)
    const where = this.#where(asked, values)
    return this.#bound(`UPDATE ${this.#table} SET ${sets.join(', ')} WHERE ${where}`, values)
  }

  remove(asked: RowsAsked): Bound {
    const values: unknown[] = []
    const where = this.#where(asked, values)
    return this.#bound(`DELETE FROM ${this.#table} WHERE ${where}`, values)
  }

  /** Returns the columns that identify a soft deletion, in addition to its time. */
  deletionMark(deleteId: string | undefined): Written {
    return this.member.undeletedBy === 'id' ? [[DELETE_ID_COLUMN, deleteId]] : []
  }

  /** Returns true if a write soft-deletes or undeletes rows. */
  #deletes(written: Written): boolean {
    const { deleteTime } = this.member.model
    return deleteTime !== undefined && written.some(([{ column }]) => column === deleteTime.column)
  }

  #where({ tenant, keys, among, state = 'all', where, expired }: RowsAsked, values: unknown[]): string {
    const { model } = this.member
    const conditions: string[] = []
    if (model.tenant !== undefined)
      if (tenant !== undefined) conditions.push(this.#ofTenant(tenant, values))
      else if (model.existing) conditions.push(`${this.#name(model.tenant)} IS NOT NULL`)
    if (keys !== undefined) conditions.push(this.#isAmong(model.key, keys, values))
    if (among !== undefined) conditions.push(this.#isAmong(among.field, among.keys, values))
    if (typeof state === 'object') conditions.push(this.#ofDeletion(state.deleteId, values))
    if (model.deleteTime !== undefined && state !== 'all')
      conditions.push(`${this.#name(model.deleteTime)} IS ${state === 'live' ? '' : 'NOT '}NULL`)
    if (expired !== undefined) conditions.push(...this.#expired(expired, values))
    if (where !== undefined) conditions.push(toPredicate(where, this.dialect, values))
    return conditions.join(' AND ')
  }

  #ofDeletion(deleteId: string, values: unknown[]): string {
    const { undeletedBy, model } = this.member
    if (undeletedBy !== 'time' || model.deleteTime === undefined)
      return `${this.#name(DELETE_ID_COLUMN)} = ${this.#bind(DELETE_ID_COLUMN, deleteId, values)}`
    const [column, value] = [model.deleteTime, new Date(Number(deleteId))]
    const isSame = { kind: 'compare', column, key: undefined, op: '=', value, isRead: true } as const
    return toPredicate(isSame, this.dialect, values)
  }

  #expired({ before, after }: NonNullable<RowsAsked['expired']>, values: unknown[]): string[] {
    const { expireTime, key, tenant } = this.member.model
    if (expireTime === undefined) return ['1 = 0']
    const conditions = [`${this.#name(expireTime)} <= ${this.#bind(expireTime, before, values)}`]
    if (after === undefined) return conditions
    const behind = () => `${this.#exact(key)} > ${this.#bindPart(key, after.key, values)}`
    if (tenant === undefined) return [...conditions, behind()]
    const whose = after.tenant ?? ''
    const beyond = `${this.#exact(tenant)} > ${this.#bindPart(tenant, whose, values)}`
    return [...conditions, `(${beyond} OR (${this.#ofTenant(whose, values)} AND ${behind()}))`]
  }

  #isAmong(field: Field, keys: readonly string[], values: unknown[]): string {
    const array = this.dialect.values.kinds[field.kind].arrayType?.(field)
    if (array !== undefined) {
      const bound = keys.map((key) => this.#stored(field, keyPartOf(field).valueOf(key)))
      const all = `= ANY(${this.#count(values, bound)}::${array})`
      return amongAllSql(this.#name(field), field, all, this.dialect)
    }
    const bound = padded(keys).map((key) => this.#bindPart(field, key, values))
    return amongSql(this.#name(field), field, bound, this.dialect)
  }

  #bind(column: PlanColumn, value: unknown, values: unknown[]): string {
    return this.dialect.values.kinds[column.kind].placeholder(
      column,
      values.push(this.#stored(column, value)),
    )
  }

  #stored(column: PlanColumn, value: unknown): unknown {
    return value === undefined
      ? null
      : this.dialect.values.kinds[column.kind].value(value as PlanValue, column)
  }

  #ofTenant(tenant: string, values: unknown[]): string {
    return isOfTenant(this.member.model, (field) => this.#bindPart(field, tenant, values), this.dialect)
  }

  #exact(field: Field): string {
    return exactSql(this.#name(field), field, this.dialect)
  }

  #bindPart(field: Field, text: string, values: unknown[]): string {
    return this.#bind(field, keyPartOf(field).valueOf(text), values)
  }

  /** Returns the select expression that lets the driver read the column's exact value. */
  #selected(column: Field | string, alias: string): string {
    if (typeof column === 'string') return `${column} AS ${alias}`
    const name = this.#name(column)
    const selected = this.dialect.values.kinds[column.kind].selected(name, alias, column)
    return selected === name ? `${name} AS ${alias}` : selected
  }

  #count(values: unknown[], value: unknown): string {
    return this.dialect.values.countPlaceholder(values.push(value))
  }

  #name({ column }: Pick<PlanColumn, 'column'>): string {
    return this.dialect.text.quote(column)
  }

  /**
   * Returns a statement that is planned for its values, because the number of referring rows varies between
   * tenants.
   */
  #found(text: string, values: readonly unknown[]): Bound {
    return this.#bound(text, values, plannedByValue)
  }

  #bound(text: string, values: readonly unknown[], made: (text: string) => Statement = named): Bound {
    let statement = this.#statements.get(text)
    if (statement === undefined) this.#statements.set(text, (statement = made(text)))
    return { statement, values }
  }
}

/** Locks rows that the transaction writes afterwards. */
export const LOCKED = FOR_WRITE

/**
 * Repeats the last key until the number of keys is a power of two, so that few statements serve lists of any
 * length. The repetition does not change which rows match.
 */
function padded(keys: readonly string[]): readonly string[] {
  const length = 2 ** Math.ceil(Math.log2(Math.max(1, keys.length)))
  return [...keys, ...Array<string>(length - keys.length).fill(keys[keys.length - 1] as string)]
}
