import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import type { Database, Row } from '../engines/executor/executor.js'
import { named } from '../engines/executor/named.js'
import type { Coalesce } from './coalesce.js'

/** After a failure to read the catalog, calls run alone for this time. */
const RETRY_MS = 1000

interface ColumnRules {
  /** The type for casts, without a length. */
  readonly type: string
  readonly isArray: boolean
  /**
   * True if writing the column may wait for another transaction, because of a unique index or a foreign key.
   */
  readonly mayWait: boolean
  /** True if replacing NULL in the column may wait for another transaction. */
  readonly mayWaitWhenSet: boolean
  /** The type with its length or precision. */
  readonly wholeType: string
}

interface Facts {
  readonly sharing: 'none' | 'tenant' | 'all'
  readonly takesWrites: boolean
  readonly takesInserts: boolean
  readonly columns: ReadonlyMap<unknown, ColumnRules>
}

/**
 * Decides which calls on a table may share a statement. The catalog is read once, when calls first have to
 * wait. With row-level security, only calls of one tenant share a statement. If tables are distributed over
 * several servers, no calls do, because the shared statement could not be routed by tenant.
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

  /** Returns the group of the calls that may share a statement, or undefined if the call runs alone. */
  groupOf(tenant: string | undefined): string | undefined {
    if (this.#facts === undefined) this.#look()
    const sharing = this.#facts?.sharing
    if (sharing === 'all') return ''
    return sharing === 'tenant' ? tenant : undefined
  }

  /** Returns true if rows can be looked up by these columns in a shared statement. */
  mayRead(by: readonly Field[]): boolean {
    return by.every(({ column }) => this.#facts?.columns.get(column)?.isArray === false)
  }

  /**
   * Returns true if a shared statement can write these columns without one row waiting for another
   * transaction.
   */
  mayUpdate(written: readonly Field[]): boolean {
    return this.#facts?.takesWrites === true && written.every((field) => this.#isFree(field, 'mayWait'))
  }

  /**
   * Returns true if a shared statement can soft-delete rows without one row waiting for another transaction.
   * The delete time was NULL before.
   */
  maySoftDelete(written: readonly Field[]): boolean {
    const { deleteTime } = this.model
    const isFree = (field: Field) => this.#isFree(field, field === deleteTime ? 'mayWaitWhenSet' : 'mayWait')
    return this.#facts?.takesWrites === true && written.every(isFree)
  }

  /** Returns true if a shared statement can insert rows without one row waiting for another transaction. */
  mayInsert(written: readonly Field[]): boolean {
    const { takesWrites = false, takesInserts = false } = this.#facts ?? {}
    return takesWrites && takesInserts && this.mayRead(written)
  }

  /**
   * Returns true if the table stores rows exactly as written: triggers and rules do not change them, and the
   * column types preserve every value.
   */
  keeps(written: readonly Field[]): boolean {
    if (this.#facts === undefined) this.#look()
    const { takesWrites = false, columns } = this.#facts ?? {}
    return takesWrites && written.every((field) => this.#isExact(field, columns?.get(field.column)))
  }

  /** Returns the SQL type of a column, or `text` while the catalog is unread. */
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

/** // If one of several servers were down, a shared statement would fail the calls of all tenants. */
const sharing = ({ isDistributed }: Database, hasPolicies: boolean, merge: Facts['sharing']) =>
  isDistributed === true ? 'none' : hasPolicies ? 'tenant' : merge

const NONE: Facts = { sharing: 'none', takesWrites: false, takesInserts: false, columns: new Map() }

const columnRules = (row: Row): [unknown, ColumnRules] => {
  const [column, type, isArray, mayWait, mayWaitWhenSet, wholeType] = row.slice(4)
  const rules = { isArray: isArray === 't', mayWait: mayWait === 't', mayWaitWhenSet: mayWaitWhenSet === 't' }
  return [column, { type: type as string, wholeType: wholeType as string, ...rules }]
}
