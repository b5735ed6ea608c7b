import { SOFT_DELETE_KEY } from '../../../resource/fields/column-names.js'
import type { Field } from '../../../resource/fields/field.js'
import type { ResourceModel } from '../../../resource/resource-model.js'
import type { FieldIncrement } from '../../../resource/values/increment.js'
import type { LockClause } from '../../contract/row-lock.js'
import { rowBytes } from '../../bytes/row-bytes.js'
import type { Dialect } from '../../dialects/dialect.js'
import type { ListedRows, Statement } from '../../engines/executor/executor.js'
import { Placeholders } from '../../engines/executor/placeholders.js'
import { named, plannedByValue } from '../../engines/executor/named.js'
import { BoundedCache } from '../../../bounded-cache.js'
import type { OutboxWriter } from '../../outbox/sql/outbox-writer.js'
import type { Taken } from '../../rows/parents.js'
import { FOR_WRITE, type GetOptions } from '../../rows/rows.js'
import type { TableName } from '../../dialects/catalog/table-definition.js'
import {
  amongAllSql,
  amongSql,
  equalSql,
  exactSql,
  hasDeleteKey,
  isOfTenant,
  keyTextSql,
  ofSomeTenant,
  unlessUnread,
  writtenSql,
} from '../../dialects/column-sql.js'
import { quoteTable } from '../../dialects/quote-table.js'
import { tableNameOf } from '../../schema/table-name-of.js'
import { type InsertedTable, insertText, generatedRowText, type ReadColumn } from './insert-text.js'
import { lockedRows, sameRow } from './locked-rows.js'
import {
  also,
  conditionOf,
  NOTHING_TAKEN,
  type RowPredicate,
  shapeBelow,
  shapeOf,
  takenFrom,
} from './row-predicate.js'

const CACHED_SHAPES = 1000

/** The fields of an update whose new values depend on stored ones. */
export interface StoredChanges {
  readonly increments?: readonly Pick<FieldIncrement, 'field' | 'operator'>[]
  /** Fields that stay unchanged if the message cannot represent their stored value. */
  readonly kept?: readonly Field[]
}

/** Options for reading several rows. */
interface BatchGetShape extends Pick<GetOptions, 'lock'> {
  readonly showDeleted?: boolean | undefined
  /** Reads the size of the rows instead of the rows. */
  readonly isMeasured?: boolean
}

/**
 * Builds the SQL of one resource in one dialect, once per shape. The SQL never depends on a value. Callers
 * bind values in the order that each method documents; a parameter in brackets is optional.
 */
export class Statements {
  readonly #shapes = new BoundedCache<string, Statement>(CACHED_SHAPES, 'statements')
  /** True if writes return the written row. RETURNING does not include later changes by a trigger. */
  readonly canReturn: boolean
  readonly #table: string
  readonly #columns: string
  readonly #returning: string
  readonly #into: InsertedTable
  readonly #discriminated: boolean

  constructor(
    readonly model: ResourceModel,
    readonly dialect: Dialect,
    readonly table: TableName = tableNameOf(model, dialect),
  ) {
    this.#table = quoteTable(table, dialect)
    this.canReturn = dialect.can.returning && !model.isChangedByTable
    this.#columns = this.columns(model.entityFields)
    this.#returning = this.canReturn ? ` RETURNING ${this.#columns}` : ''
    this.#into = { model, dialect, table: this.#table, select: (...operands) => this.columns(...operands) }
    this.#discriminated = hasDeleteKey(model, dialect)
  }

  /** Returns a statement that reads a live row. Parameters: key, [tenant], [etag], [where]. */
  get(predicate: RowPredicate, { showDeleted = false, lock }: GetOptions = {}): Statement {
    return this.#shape(shapeOf(`get ${showDeleted} ${lock?.lock} ${lock?.wait}`, predicate, []), () => {
      const text = new Placeholders(this.dialect)
      const live = showDeleted ? '' : this.#live()
      return `SELECT ${this.#columns} FROM ${this.#table} WHERE ${this.#condition(text, predicate)}${live}${this.#lock(lock)}`
    })
  }

  /**
   * Returns a statement that reads the tenants that have a key, including deleted rows, at most two.
   * Parameters: key.
   */
  tenantsOf(): Statement {
    return this.#shape('tenantsOf', () => {
      const text = new Placeholders(this.dialect)
      const tenant = this.columns([this.model.tenant as Field])
      return `SELECT ${tenant} FROM ${this.#table} WHERE ${this.#equal(this.model.key, text)}${this.#owned(false)} LIMIT 2`
    })
  }

  /**
   * Returns a statement that inserts a row. For its parameters see {@link insertText}.
   *
   * @param fields - the model's fields, or {@link withoutKey}.
   * @param along - inserts the row's event.
   */
  insert(
    fields: readonly Field[],
    parents: readonly Taken[] = NOTHING_TAKEN,
    along?: OutboxWriter['along'],
  ): Statement {
    const filled = this.model.isFilledByTable ? ` ${fields.map(({ column }) => column).join('\0')}` : ''
    const shape = `insert${fields.includes(this.model.key) ? '' : ' minted'}${along === undefined ? '' : ' along'}${filled}`
    const key = parents.length === 0 ? shape : shapeBelow(shape, parents)
    return this.#shape(key, () => insertText(this.#into, fields, parents, along))
  }

  /**
   * Returns a statement that reads the row for which the connection last generated a key. Parameters:
   * [tenant].
   */
  generatedRow(tenant: boolean): Statement {
    return this.#shape(`minted ${tenant}`, () => generatedRowText(this.#into, tenant))
  }

  /**
   * Returns a statement that updates a live row. Parameters: the values of the locks, one per field, the
   * operands of increments, key, [tenant], [etag], [where].
   */
  update(
    fields: readonly Field[],
    predicate: RowPredicate,
    { increments = [], kept = [] }: StoredChanges = {},
    parents: readonly Taken[] = NOTHING_TAKEN,
  ): Statement {
    let shape = shapeOf('update', predicate, fields)
    if (parents.length > 0) shape = shapeBelow(shape, parents)
    for (const { field, operator } of increments) shape += `\0\0${operator}${field.column}`
    for (const { column } of kept) shape += `\0\0=${column}`
    return this.#shape(shape, () => {
      const text = new Placeholders(this.dialect)
      const [begin, from] = takenFrom(text, parents)
      const of = from === '' ? '' : `${this.#table}.`
      const sets = fields.map((field) => {
        const added = increments.find((each) => each.field === field)
        const name = this.#name(field)
        if (kept.includes(field))
          return `${name} = ${unlessUnread(`${of}${name}`, field, text.bind(field), this.dialect)}`
        if (added === undefined) return this.#set(field, text.bind(field), of)
        return `${name} = COALESCE(${name}, 0) ${added.operator} ${text.bind(field)}`
      })
      return `${begin}UPDATE ${this.#table} SET ${sets.join(', ')}${from === '' ? '' : ` FROM ${from}`} WHERE ${this.#condition(text, predicate)}${this.#live()}${this.#returning}`
    })
  }

  /**
   * Returns a statement that deletes a live row, softly if the model has `delete_time`. Parameters: one per
   * field, key, [tenant], [etag], [where].
   */
  delete(fields: readonly Field[], predicate: RowPredicate): Statement {
    return this.#shape(shapeOf('delete', predicate, fields), () => {
      const text = new Placeholders(this.dialect)
      if (this.model.deleteTime === undefined)
        return `DELETE FROM ${this.#table} WHERE ${this.#condition(text, predicate)}`
      const sets = fields.map((field) => this.#set(field, text.bind(field)))
      if (this.#discriminated) sets.push(this.#deleteKey())
      return `UPDATE ${this.#table} SET ${sets.join(', ')} WHERE ${this.#condition(text, predicate)}${this.#live()}`
    })
  }

  /** Returns a statement that undeletes a row. Parameters: one per field, key, [tenant], [etag], [where]. */
  undelete(fields: readonly Field[], predicate: RowPredicate): Statement {
    return this.#shape(shapeOf('undelete', predicate, fields), () => {
      const text = new Placeholders(this.dialect)
      const sets = fields.map((field) => this.#set(field, text.bind(field)))
      if (this.#discriminated) sets.push(`${this.dialect.text.quote(SOFT_DELETE_KEY)} = ''`)
      return `UPDATE ${this.#table} SET ${sets.join(', ')} WHERE ${this.#condition(text, predicate)} AND ${this.#name(this.model.deleteTime as Field)} IS NOT NULL${this.#returning}`
    })
  }

  /**
   * Returns a statement that reads rows by key. Parameters: [tenant], the keys, [where]. The keys are one
   * array on PostgreSQL and single parameters elsewhere.
   *
   * @param count - the number of single keys. Callers pad it to a power of two.
   */
  batchGet(
    count: number,
    { tenant, where }: RowPredicate,
    { lock, showDeleted: all = false, isMeasured = false }: BatchGetShape = {},
  ): Statement {
    const shape = `batchGet ${count} ${tenant} ${where} ${lock?.lock} ${lock?.wait} ${all} ${isMeasured}`
    return this.#shape(shape, () => {
      const { key } = this.model
      const array = this.dialect.values.kinds[key.kind].arrayType?.(key)
      const text = new Placeholders(this.dialect)
      const condition = tenant ? `${this.#ofTenant(text)} AND ` : ''
      const among =
        array !== undefined
          ? amongAllSql(this.#name(key), key, `= ANY(${text.count()}::${array})`, this.dialect)
          : amongSql(
              this.#name(key),
              key,
              Array.from({ length: count }, () => text.bind(key)),
              this.dialect,
            )
      const order = lock === undefined ? '' : ` ORDER BY ${this.#exact(key)}${this.#lock(lock)}`
      const selected = isMeasured ? `COALESCE(SUM(${rowBytes(this.model, this.dialect)}), 0)` : this.#columns
      return `SELECT ${selected} FROM ${this.#table} WHERE ${condition}${among}${this.#owned(tenant)}${all ? '' : this.#live()}${also(where)}${order}`
    })
  }

  /**
   * Returns a statement that writes different values to many rows (PostgreSQL). Its rows begin with the
   * position of their key, starting at 1. Parameters: [tenant], the keys in lock order, one array per field,
   * one value per field that all rows share, [where].
   */
  batchUpdate(fields: readonly Field[], shared: readonly Field[], predicate: RowPredicate): Statement {
    const { tenant, where, isRouted } = predicate
    const columns = fields.map((field) => field.column)
    const once = shared.map((field) => field.column)
    return this.#shape(
      `batchUpdate ${tenant} ${isRouted} ${where} ${columns.join('\0')}\0\0${once.join('\0')}`,
      () => {
        const {
          values: { kinds },
        } = this.dialect
        const first = fields.length + (tenant ? 3 : 2)
        const sets = [
          ...fields.map((field, i) => {
            const type = kinds[field.kind].passedAs?.(field)
            return this.#set(field, `l.v${i}${type === undefined ? '' : `::${type}`}`, 't.')
          }),
          ...shared.map((field, i) =>
            this.#set(field, kinds[field.kind].placeholder(field, first + i), 't.'),
          ),
        ]
        return (
          `${lockedRows(this.#into, predicate, fields)}UPDATE ${this.#table} t SET ${sets.join(', ')} FROM l ` +
          `WHERE ${sameRow(this.#into, predicate)} RETURNING l.o, ${this.columns(this.model.entityFields, 't.')}`
        )
      },
    )
  }

  /**
   * Returns a statement that writes the same server-set columns to many rows (PostgreSQL). Parameters:
   * [tenant], the keys in lock order, the server-set columns, [where].
   */
  batchDelete(serverSet: readonly Field[], predicate: RowPredicate): Statement {
    const { tenant, where, isRouted } = predicate
    return this.#shape(`batchDelete ${tenant} ${isRouted} ${where}`, () => {
      const locked = lockedRows(this.#into, predicate, [])
      const found = `WHERE ${sameRow(this.#into, predicate)}`
      if (this.model.deleteTime === undefined) return `${locked}DELETE FROM ${this.#table} t USING l ${found}`
      const sets = serverSet.map((field, i) => this.#set(field, `$${i + (tenant ? 3 : 2)}`, 't.'))
      return `${locked}UPDATE ${this.#table} t SET ${sets.join(', ')} FROM l ${found}`
    })
  }

  /**
   * Returns the assignment of a field's new value.
   *
   * @param of - the qualifier of the column.
   */
  #set(field: Field, value: string, of = ''): string {
    const name = this.#name(field)
    return `${name} = ${writtenSql(this.model, field, `${of}${name}`, value, this.dialect)}`
  }

  /**
   * Returns a statement that reads every stored field of live rows with a value, at most two in key order.
   * Parameters: value, [tenant], [where].
   */
  find(field: Field, { tenant, where }: RowPredicate): Statement {
    return this.#shape(`find ${field.column} ${tenant} ${where}`, () => {
      const text = new Placeholders(this.dialect)
      const condition = `${this.#equal(field, text)}${tenant ? ` AND ${this.#ofTenant(text)}` : ''}`
      return `SELECT ${this.columns(this.model.fields)} FROM ${this.#table} WHERE ${condition}${this.#owned(tenant)}${this.#live()}${also(where)} ORDER BY ${this.#exact(this.model.key)} LIMIT 2`
    })
  }

  /**
   * Returns a statement that checks for a row whose key is one of several strings, including deleted rows.
   * Parameters: [tenant], the strings.
   */
  hasKey(count: number, tenant: boolean): Statement {
    return this.#shape(`hasKey ${count} ${tenant}`, () => {
      const { key } = this.model
      const text = new Placeholders(this.dialect)
      const whose = tenant ? `${this.#ofTenant(text)} AND ` : ''
      const among = Array.from({ length: count }, () => text.bind(key)).join(', ')
      return `SELECT 1 AS ${this.dialect.text.quote('(key)')} FROM ${this.#table} WHERE ${whose}${this.#name(key)} IN (${among}) LIMIT 1`
    })
  }

  /**
   * Returns a statement that checks for a row of any tenant with a value, including deleted rows. Parameters:
   * value.
   */
  has(column: string): Statement {
    return this.#shape(`has ${column}`, () => {
      return `SELECT 1 AS found FROM ${this.#table} WHERE ${this.dialect.text.quote(column)} = ${this.dialect.values.countPlaceholder(1)} LIMIT 1`
    })
  }

  /** Returns a statement that reads the tenants that have expired rows. Parameters: time. */
  expiredTenants(): Statement {
    return this.#shape('expiredTenants', () => {
      const tenant = this.columns([this.model.tenant as Field])
      const expire = this.model.expireTime as Field
      const before = new Placeholders(this.dialect).bind(expire)
      return `SELECT DISTINCT ${tenant} FROM ${this.#table} WHERE ${this.#name(expire)} <= ${before}${this.#owned(false)}`
    })
  }

  /**
   * Returns a statement that removes a chunk of expired rows. A row that is renewed meanwhile is kept.
   * Parameters: time, [tenant], chunk size.
   */
  purge({ tenant, isRouted }: RowPredicate): Statement {
    const build = () => {
      const text = new Placeholders(this.dialect)
      const expire = this.model.expireTime as Field
      const before = text.bind(expire)
      const whose = tenant ? this.#ofTenant(text) : undefined
      const condition = `${this.#name(expire)} <= ${before}${whose === undefined ? this.#owned(tenant) : ` AND ${whose}`}`
      const outer = isRouted && whose !== undefined ? `${whose} AND ` : ''
      return `DELETE FROM ${this.#table} WHERE ${outer}${this.#limited(condition, text.count(), outer !== '')}`
    }
    return this.#shape(`purge ${tenant} ${isRouted}`, build, plannedByValue)
  }

  /**
   * Returns a statement that writes at most `limit` live rows that match `where`. Parameters: one per field,
   * [tenant] (twice if UPDATE and DELETE have no LIMIT), [where].
   */
  writeWhere(
    kind: 'update' | 'delete',
    fields: readonly Field[],
    predicate: RowPredicate,
    limit: number,
  ): Statement {
    const build = () => {
      const text = new Placeholders(this.dialect)
      const sets = fields.map((field) => this.#set(field, text.bind(field)))
      const isDelete = kind === 'delete'
      if (isDelete && this.#discriminated) sets.push(this.#deleteKey())
      const isRemoval = isDelete && this.model.deleteTime === undefined
      const { tenant, where = '' } = predicate
      const whose = () => (tenant ? `${this.#ofTenant(text)} AND ` : '')
      const outer = this.dialect.can.limitedDelete ? '' : whose()
      const condition = `${whose()}${where}${this.#owned(tenant)}${this.#live()}`
      const write = isRemoval ? `DELETE FROM ${this.#table}` : `UPDATE ${this.#table} SET ${sets.join(', ')}`
      return `${write} WHERE ${outer}${this.#limited(condition, String(limit), tenant)}`
    }
    return this.#shape(shapeOf(`${kind} where ${limit}`, predicate, fields), build, plannedByValue)
  }

  /**
   * Returns a condition of UPDATE or DELETE that at most `count` rows meet. A materialized CTE chooses
   * them: PostgreSQL may run a plain subquery once per row of the outer scan, and each run locks other rows.
   */
  #limited(condition: string, count: string, isTenantNamed = false): string {
    if (this.dialect.can.limitedDelete) return `${condition} LIMIT ${count}`
    const { key, tenant, tenantInKey } = this.model
    const identity = (tenantInKey && !isTenantNamed ? [tenant as Field, key] : [key])
      .flatMap((field) => [...new Set([this.#name(field), this.#exact(field)])])
      .join(', ')
    const rows = `SELECT ${identity} FROM ${this.#table} WHERE ${condition} LIMIT ${count}${this.#lock(FOR_WRITE)}`
    return `(${identity}) IN (WITH chosen AS MATERIALIZED (${rows}) SELECT * FROM chosen)`
  }

  #deleteKey(): string {
    return `${this.dialect.text.quote(SOFT_DELETE_KEY)} = ${keyTextSql(this.model.key, this.dialect)}`
  }

  /**
   * Returns the select list of entities.
   *
   * @param own - the qualifier of the columns.
   */
  columns(selected: readonly Field[], own = '', read: ReadColumn = (_, column) => column): string {
    const one = (field: Field, name: string) =>
      this.dialect.values.kinds[field.kind].selected(read(field, own + name), name, field)
    return selected.map((field) => one(field, this.#name(field))).join(', ')
  }

  /** Returns a statement for complete SQL with numbered placeholders. */
  written(text: string): Statement {
    return this.#shape(text, () => text)
  }

  /**
   * Returns the statement of a list or count. It is planned by value, because the number of rows depends on
   * the tenant and other values.
   */
  ofList(text: string, listed?: () => ListedRows): Statement {
    return this.#shape(text, () => text, listing(listed))
  }

  /**
   * Returns a page's statement, cached by `dependsOn`, which must contain everything that determines the SQL.
   * This short key avoids building and hashing long SQL in every call.
   */
  ofPage(dependsOn: string, text: () => string, listed: () => ListedRows): Statement {
    return this.#shape(`page ${dependsOn}`, text, listing(listed))
  }

  /** Returns `column IS NULL` for live rows, or an empty string if rows are never soft-deleted. */
  liveCondition(): string {
    return this.model.deleteTime === undefined ? '' : `${this.#name(this.model.deleteTime)} IS NULL`
  }

  #condition(text: Placeholders, predicate: RowPredicate): string {
    return conditionOf(this.model, this.dialect, text, predicate)
  }

  #equal(field: Field, text: Placeholders): string {
    return equalSql(this.#name(field), field, text.bind(field), this.dialect)
  }

  #exact(field: Field): string {
    return exactSql(this.#name(field), field, this.dialect)
  }

  #ofTenant(text: Placeholders): string {
    return isOfTenant(this.model, (field) => text.bind(field), this.dialect)
  }

  #owned(isTenantNamed: boolean): string {
    return isTenantNamed ? '' : ofSomeTenant(this.model, this.dialect)
  }

  #lock(lock: LockClause | undefined): string {
    return lock === undefined ? '' : this.dialect.transactions.rowLock(lock)
  }

  #live(): string {
    return this.model.deleteTime === undefined ? '' : ` AND ${this.liveCondition()}`
  }

  #name(field: Field): string {
    return this.dialect.text.quote(field.column)
  }

  #shape(key: string, build: () => string, made: (text: string) => Statement = named): Statement {
    let statement = this.#shapes.get(key)
    if (statement === undefined) this.#shapes.set(key, (statement = made(build())))
    return statement
  }
}

/** Creates the description of a list once, together with its statement. */
const listing = (listed: (() => ListedRows) | undefined) => (text: string) => ({
  ...plannedByValue(text),
  ...(listed !== undefined && { listed: listed() }),
})
