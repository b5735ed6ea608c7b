import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import { equalSql, exactSql, ofSomeTenant, writtenSql } from '../dialects/column-sql.js'
import type { Dialect } from '../dialects/dialect.js'
import { quoteTable } from '../dialects/quote-table.js'
import type { CoalescingSql } from '../dialects/values/coalescing-sql.js'
import type { Statement } from '../engines/executor/executor.js'
import { named } from '../engines/executor/named.js'
import { OUTBOX_TYPES, type OutboxWriter } from '../outbox/sql/outbox-writer.js'

/** The shape of a read. Calls of the same shape can share a statement. */
export interface ReadShape {
  /** The column that is compared with the value of each call. */
  readonly by: Field
  /** The tenant column, if the calls are limited to a tenant. */
  readonly tenant: Field | undefined
  readonly selected: readonly Field[]
  /** True if several rows may match. The call then gets the first one by key. */
  readonly isFirst: boolean
}

/** The name of the column with the number of the call. The parentheses prevent a clash with real columns. */
const NUMBER = '(number)'

/**
 * Builds statements that each carry many calls. Their rows begin with the number of the call, starting at 1.
 */
export class CoalescedStatements {
  readonly #table: string

  /**
   * @param typeOf - returns the SQL type of a column, without a length.
   */
  constructor(
    private readonly model: ResourceModel,
    private readonly dialect: Dialect,
    private readonly coalescing: CoalescingSql,
    table: TableName,
    private readonly typeOf: (field: Field) => string,
  ) {
    this.#table = quoteTable(table, dialect)
  }

  /**
   * Returns a statement that looks up live rows. Each call has the requested value and, if required, the
   * tenant. Calls without a matching row have no row in the result.
   */
  read({ by, tenant, selected, isFirst }: ReadShape): Statement {
    const columns = this.#selected(selected, 't')
    const requested = tenant === undefined ? [by] : [by, tenant]
    const calls = this.#calls(requested)
    const owned = tenant === undefined ? ofSomeTenant(this.model, this.dialect, 't.') : ''
    const condition = `${this.#matching(requested)}${owned}${this.#live()}`
    const number = `k.o AS ${this.dialect.text.quote(NUMBER)}`
    if (!isFirst)
      return named(`SELECT ${number}, ${columns} FROM ${calls} JOIN ${this.#table} t ON ${condition}`)
    const key = `t.${this.#name(this.model.key)}`
    const exact = exactSql(key, this.model.key, this.dialect)
    const first = (selected: string) =>
      `(SELECT ${selected} FROM ${this.#table} t WHERE ${condition} ORDER BY ${exact} LIMIT 1)`
    return named(
      this.dialect.can.lateral
        ? `SELECT ${number}, r.* FROM ${calls} CROSS JOIN LATERAL ${first(columns)} r`
        : `SELECT ${number}, ${columns} FROM ${calls} JOIN ${this.#table} t ON ${condition} AND ${exact} = ${first(key)}`,
    )
  }

  /**
   * Returns a statement that updates live rows (PostgreSQL). Each call has the key, the tenant if there is
   * one, the etag if the model has one (NULL matches any), and the new values. The statement does not wait
   * for locks: rows that are locked or do not match are missing from the result.
   */
  update(written: readonly Field[], returned: readonly Field[]): Statement {
    const { etag } = this.model
    const identity = this.#identity
    const asked = etag === undefined ? identity : [...identity, etag]
    const isMeant =
      etag === undefined
        ? ''
        : ` AND (k.v${identity.length} IS NULL OR ${equalSql(`t.${this.#name(etag)}`, etag, `k.v${identity.length}`, this.dialect)})`
    const locked =
      `SELECT 1 FROM ${this.#table} t WHERE ${this.#matching(identity)}${isMeant}${this.#live()} ` +
      'FOR NO KEY UPDATE SKIP LOCKED'
    const sets = written.map((field, i) => {
      const [name, value] = [this.#name(field), `k.v${asked.length + i}`]
      return `${name} = ${writtenSql(this.model, field, `t.${name}`, value, this.dialect)}`
    })
    return named(
      `WITH k AS MATERIALIZED (SELECT k.* FROM ${this.#calls([...asked, ...written])} CROSS JOIN LATERAL (${locked}) r) ` +
        `UPDATE ${this.#table} t SET ${sets.join(', ')} FROM k WHERE ${this.#matching(identity)} ` +
        `RETURNING k.o, ${this.#selected(returned, 't')}`,
    )
  }

  /**
   * Returns a statement that inserts rows (PostgreSQL). Each call has the value of every field, followed by
   * the values of its event. A row that conflicts with another is missing from the result and has no event.
   *
   * @param along - the SQL that inserts the event of each row.
   */
  insert(fields: readonly Field[], returned: readonly Field[], along?: OutboxWriter['along']): Statement {
    const names = fields.map((field) => this.#name(field)).join(', ')
    const values = fields.map((_, i) => `v${i}`).join(', ')
    const same = this.#identity.map((field) =>
      equalSql(`i.${this.#name(field)}`, field, `k.v${fields.indexOf(field)}`, this.dialect),
    )
    const isSame = same.join(' AND ')
    const more = along === undefined ? [] : OUTBOX_TYPES
    const event = more.map((_, i) => `k.v${fields.length + i}`)
    return named(
      `WITH k AS MATERIALIZED (SELECT * FROM ${this.#calls(fields, more)}), ` +
        `i AS (INSERT INTO ${this.#table} (${names}) SELECT ${values} FROM k ON CONFLICT DO NOTHING ` +
        `RETURNING ${returned.map((field) => this.#name(field)).join(', ')})` +
        `${along === undefined ? '' : `, e AS (${along(event, `i JOIN k ON ${isSame}`)})`} ` +
        `SELECT k.o, ${this.#selected(returned, 'i')} FROM i LEFT JOIN k ON ${isSame}`,
    )
  }

  get #identity(): readonly Field[] {
    const { key, tenant } = this.model
    return tenant === undefined ? [key] : [key, tenant]
  }

  /**
   * Returns the relation `k` with the values and the number of each call.
   *
   * @param more - the types of the values that follow the fields.
   */
  #calls(fields: readonly Field[], more: readonly string[] = []): string {
    return this.coalescing.calls([...fields.map((field) => this.typeOf(field)), ...more])
  }

  #matching(fields: readonly Field[]): string {
    return fields
      .map((field, i) => equalSql(`t.${this.#name(field)}`, field, `k.v${i}`, this.dialect))
      .join(' AND ')
  }

  #live(): string {
    const { deleteTime } = this.model
    return deleteTime === undefined ? '' : ` AND t.${this.#name(deleteTime)} IS NULL`
  }

  #selected(fields: readonly Field[], of: string): string {
    return fields
      .map((field) =>
        this.dialect.values.kinds[field.kind].selected(
          `${of}.${this.#name(field)}`,
          this.#name(field),
          field,
        ),
      )
      .join(', ')
  }

  #name(field: Field): string {
    return this.dialect.text.quote(field.column)
  }
}
