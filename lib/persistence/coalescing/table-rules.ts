import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import type { Database, Row } from '../engines/executor/executor.js'
import { named } from '../engines/executor/named.js'
import type { Coalesce } from './coalesce.js'

/** The time calls go out alone after the catalog could not be read. */
const RETRY_MS = 1000

interface ColumnRules {
  /** As a cast names it, without a length. */
  readonly type: string
  readonly isArray: boolean
  /** True if a write may wait for another transaction: a unique index or a foreign key causes it. */
  readonly mayWait: boolean
  /** The same, for who sets it where it was NULL. */
  readonly mayWaitWhenSet: boolean
  /** With its length or precision. */
  readonly wholeType: string
}

interface Facts {
  readonly sharing: 'none' | 'tenant' | 'all'
  readonly takesWrites: boolean
  readonly takesInserts: boolean
  readonly columns: ReadonlyMap<unknown, ColumnRules>
}

/**
 * The calls on a table that may share a statement. The catalog is read once, when calls would first wait for
 * each other. If the database decides about rows (row-level security), only calls of one tenant share a
 * statement. If tables are on several servers, none do, because a shared statement has no single tenant that
 * routes it.
 */
export class TableRules {
  #facts: Facts | undefined
  #isReading = false
  #retryAt = 0

  constructor(
    private readonly database: Database,
    private readonly model: ResourceModel,
    private readonly table: TableName,
    private readonly merge: Exclude<Coalesce, 'off'>,
  ) {}

  /** Calls of the same group may share a statement; undefined where the call goes out alone. */
  groupOf(tenant: string | undefined): string | undefined {
    if (this.#facts === undefined) this.#look()
    const sharing = this.#facts?.sharing
    if (sharing === 'all') return ''
    return sharing === 'tenant' ? tenant : undefined
  }

  /** True if rows can be looked for by these columns, many at once. */
  mayRead(by: readonly Field[]): boolean {
    return by.every(({ column }) => this.#facts?.columns.get(column)?.isArray === false)
  }

  /**
   * True if these columns of several rows can be written at once, so that no row waits for another
   * transaction.
   */
  mayUpdate(written: readonly Field[]): boolean {
    return this.#facts?.takesWrites === true && written.every((field) => this.#isFree(field, 'mayWait'))
  }

  /** The same, for columns that a delete writes. The time of the delete was NULL. */
  maySoftDelete(written: readonly Field[]): boolean {
    const { deleteTime } = this.model
    const isFree = (field: Field) => this.#isFree(field, field === deleteTime ? 'mayWaitWhenSet' : 'mayWait')
    return this.#facts?.takesWrites === true && written.every(isFree)
  }

  /**
   * True if several rows with new keys can be inserted at once, so that none waits for another transaction.
   */
  mayInsert(written: readonly Field[]): boolean {
    const { takesWrites = false, takesInserts = false } = this.#facts ?? {}
    return takesWrites && takesInserts && this.mayRead(written)
  }

  /**
   * True if rows are stored as they are written: the table does nothing to them, and their columns give every
   * value back.
   */
  keeps(written: readonly Field[]): boolean {
    if (this.#facts === undefined) this.#look()
    const { takesWrites = false, columns } = this.#facts ?? {}
    return takesWrites && written.every((field) => this.#isExact(field, columns?.get(field.column)))
  }

  /** The type of a column, once calls share statements. */
  typeOf({ column }: Field): string {
    return this.#facts?.columns.get(column)?.type ?? 'text'
  }

  #isFree({ column }: Field, mayWait: 'mayWait' | 'mayWaitWhenSet'): boolean {
    const rules = this.#facts?.columns.get(column)
    return rules?.isArray === false && !rules[mayWait]
  }

  #isExact(field: Field, rules: ColumnRules | undefined): boolean {
    return rules !== undefined && this.database.dialect.values.kinds[field.kind].keeps(field, rules.wholeType)
  }

  #look(): void {
    if (this.#isReading || performance.now() < this.#retryAt) return
    this.#isReading = true
    void this.#read()
      .then((facts) => {
        this.#facts = facts
      })
      .catch(() => {
        this.#retryAt = performance.now() + RETRY_MS
      })
      .finally(() => {
        this.#isReading = false
      })
  }

  async #read(): Promise<Facts> {
    const {
      values: { coalescing },
    } = this.database.dialect
    if (coalescing === undefined) return NONE
    const { key, tenant } = this.model
    const identity = tenant === undefined ? [key.column] : [key.column, tenant.column]
    const { text, values } = coalescing.rules(this.table, identity)
    const { rows } = await this.database.run(named(text), values)
    const [isTable, hasPolicies, takesWrites, takesInserts] = rows[0] ?? []
    if (isTable !== 't') return NONE
    return {
      sharing: sharing(this.database, hasPolicies === 't', this.merge),
      takesWrites: takesWrites === 't',
      takesInserts: takesInserts === 't',
      columns: new Map(rows.map(columnRules)),
    }
  }
}

/** On several servers, one that is down would fail the calls of all tenants in the statement. */
const sharing = ({ isDistributed }: Database, hasPolicies: boolean, merge: Facts['sharing']) =>
  isDistributed === true ? 'none' : hasPolicies ? 'tenant' : merge

const NONE: Facts = { sharing: 'none', takesWrites: false, takesInserts: false, columns: new Map() }

const columnRules = (row: Row): [unknown, ColumnRules] => {
  const [column, type, isArray, mayWait, mayWaitWhenSet, wholeType] = row.slice(4)
  const rules = { isArray: isArray === 't', mayWait: mayWait === 't', mayWaitWhenSet: mayWaitWhenSet === 't' }
  return [column, { type: type as string, wholeType: wholeType as string, ...rules }]
}
