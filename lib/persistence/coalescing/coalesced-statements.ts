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

/** The part that the calls of a reading statement share. */
export interface ReadShape {
  /** The column in which each call looks for a value. */
  readonly by: Field
  /** The column of the tenant, where each call names one. */
  readonly tenant: Field | undefined
  readonly selected: readonly Field[]
  /** True if a call can find several rows, of which it takes the first by key. */
  readonly isFirst: boolean
}

/** No column has this name. */
const NUMBER = '(number)'

/**
 * Statements that each carry many calls. They return the number of the call, from 1, before the columns of
 * its row.
 */
export class CoalescedStatements {
  readonly #table: string

  /** @param typeOf - of a column, without a length. */
  constructor(
    private readonly model: ResourceModel,
    private readonly dialect: Dialect,
    private readonly coalescing: CoalescingSql,
    table: TableName,
    private readonly typeOf: (field: Field) => string,
  ) {
    this.#table = quoteTable(table, dialect)
  }

  /** Looks for live rows. Values: what is looked for, [the tenant]. Calls that find nothing have no row. */
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
   * Writes columns of live rows (PostgreSQL). Values: the key, [the tenant], [the etag, NULL for any], then
   * the columns. Waits for no lock: a row that is locked, or is not as its call wants it, is missing from the
   * result.
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
   * Inserts rows (PostgreSQL). Values: one for each field, then the events' values. A row that conflicts with
   * another is missing from the result, and has no event.
   * @param along - inserts the event of each row.
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
   * `k`: the values of each call, and its number. @param more - types of the values after the fields' values.
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
