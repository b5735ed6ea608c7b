import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { equalSql, exactSql, ofSomeTenant } from '../dialects/column-sql.js'
import { quoteTable } from '../dialects/quote-table.js'
import { encoderOf } from '../dialects/values/kind-sql.js'
import { partSql } from '../dialects/values/part-sql.js'
import { Placeholders } from '../engines/executor/placeholders.js'
import type { CipherRow, CipherRows, CipherKey } from '../rows/cipher-rows.js'
import type { SqlCall } from '../rows/row-call.js'
import type { Statements } from './statements/statements.js'

/** Reads and writes the ciphertexts of one resource in a database. */
export class SqlCipherRows implements CipherRows<SqlCall> {
  readonly #model: ResourceModel
  readonly #table: string

  constructor(private readonly statements: Statements) {
    this.#model = statements.model
    this.#table = quoteTable(statements.table, statements.dialect)
  }

  async page(
    call: SqlCall,
    tenant: string | undefined,
    after: CipherKey | undefined,
    size: number,
  ): Promise<readonly CipherRow[]> {
    const { key, tenant: owner, tenantInKey } = this.#model
    const ciphers = this.#model.secrets.map(({ cipher }) => cipher)
    const text = new Placeholders(this.statements.dialect)
    const values: unknown[] = []
    const bind = (field: Field, value: string) => {
      values.push(this.#encode(field, value))
      return text.bind(field)
    }
    const name = (field: Field) => this.#name(field)
    const exact = (field: Field) => exactSql(name(field), field, this.statements.dialect)
    const is = (field: Field, value: string) => this.#equal(field, bind(field, value))
    const held = ciphers.map((field) => `${name(field)} IS NOT NULL`).join(' OR ')
    const conditions = [`(${held})${ofSomeTenant(this.#model, this.statements.dialect)}`]
    if (owner !== undefined && tenant !== undefined) conditions.push(is(owner, tenant))
    const first = tenantInKey && tenant === undefined ? owner : undefined
    if (after !== undefined && first !== undefined) {
      const of = after.tenant ?? ''
      conditions.push(
        `(${exact(first)} > ${bind(first, of)} OR (${is(first, of)} AND ${exact(key)} > ${bind(key, after.key)}))`,
      )
    } else if (after !== undefined) conditions.push(`${exact(key)} > ${bind(key, after.key)}`)
    const read = owner === undefined ? [key, ...ciphers] : [key, ...ciphers, owner]
    // Qualify the name. A bare one would refer to the select list, which may contain a number as a string.
    const term = (field: Field) => exactSql(`${this.#table}.${name(field)}`, field, this.statements.dialect)
    const order = first === undefined ? term(key) : `${term(first)}, ${term(key)}`
    const statement = this.statements.written(
      `SELECT ${this.statements.columns(read)} FROM ${this.#table} WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ${size}`,
    )
    const { rows } = await call.on.run(statement, values, call)
    return rows.map((row) => {
      const [id, ...others] = row.map((value, index) => this.#text(read[index] as Field, value))
      return {
        key: id ?? '',
        tenant: owner === undefined ? undefined : others[ciphers.length],
        ciphers: others.slice(0, ciphers.length),
      }
    })
  }

  async replace(
    call: SqlCall,
    { key, tenant }: CipherKey,
    index: number,
    from: string,
    to: string,
  ): Promise<boolean> {
    const { key: keyField, tenant: owner } = this.#model
    const cipher = this.#model.secrets[index]?.cipher as Field
    const text = new Placeholders(this.statements.dialect)
    const values: unknown[] = []
    const is = (field: Field, value: string) => {
      values.push(this.#encode(field, value))
      return this.#equal(field, text.bind(field))
    }
    values.push(this.#encode(cipher, to))
    const set = `${this.#name(cipher)} = ${text.bind(cipher)}`
    const conditions = [is(keyField, key)]
    if (owner !== undefined && tenant !== undefined) conditions.push(is(owner, tenant))
    conditions.push(is(cipher, from))
    const statement = this.statements.written(
      `UPDATE ${this.#table} SET ${set} WHERE ${conditions.join(' AND ')}`,
    )
    return (await call.on.run(statement, values, call)).affected > 0
  }

  #equal(field: Field, value: string): string {
    return equalSql(this.#name(field), field, value, this.statements.dialect)
  }

  #name(field: Field): string {
    return this.statements.dialect.text.quote(field.column)
  }

  #encode(field: Field, text: string): unknown {
    const { dialect } = this.statements
    const { key, tenant } = this.#model
    if (field === key || field === tenant) return partSql(field, dialect).bind(text)
    return encoderOf(field, dialect)?.(text) ?? text
  }

  #text(field: Field, value: unknown): string | undefined {
    if (value === null || value === undefined) return undefined
    return partSql(field, this.statements.dialect).read(value)
  }
}
