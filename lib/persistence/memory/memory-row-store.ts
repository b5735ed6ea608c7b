import type { Field } from '../../resource/fields/field.js'
import { partIn } from '../../resource/keys/key-part.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { CredentialRow } from '../contract/credential-check.js'
import type { Values } from '../contract/new-entity.js'
import { TooManyBytes } from '../bytes/too-many-bytes.js'
import { bytesIn, fitting } from '../bytes/counted-bytes.js'
import type { Reach } from '../contract/scope.js'
import type { Target } from '../rows/row-target.js'
import type { Finds, GetOptions, Rows, RowWrite } from '../rows/rows.js'
import type { MemoryCall } from './memory-database.js'
import type { MemoryReferences } from './memory-references.js'
import type { Log, MemoryTable, Telling } from './memory-table.js'

/** Which rows with a key are included. */
type State = 'live' | 'deleted' | 'all'

/**
 * Stores the rows of one resource in memory. Only one transaction runs at a time, so that rows need no locks.
 */
export class MemoryRowStore<E extends object> implements Rows<E, MemoryCall>, Finds<E, MemoryCall> {
  readonly insertsAtOnce = true

  constructor(
    private readonly model: ResourceModel<E>,
    private readonly table: MemoryTable<E>,
    private readonly references: MemoryReferences | undefined,
  ) {}

  batches(): undefined {
    return undefined
  }

  get({ read }: MemoryCall, row: Target, { showDeleted = false }: GetOptions = {}): Promise<E | undefined> {
    return read(() => {
      const stored = this.#stored(row, showDeleted ? 'all' : 'live')
      return stored && this.table.entityOf(stored)
    })
  }

  insert(call: MemoryCall, { values }: RowWrite): Promise<E> {
    const row = this.table.rowOf(values)
    return changed(call, (log) => {
      this.references?.check(row, row, call.referable)
      this.table.insert(row, log)
      return this.table.entityOf(row)
    })
  }

  update(call: MemoryCall, { row, values }: RowWrite): Promise<E | undefined> {
    return changed(call, (log) => this.#replaced(call, this.#stored(row, 'live'), values, log))
  }

  delete(call: MemoryCall, { row, values, isRemovedNext }: RowWrite): Promise<boolean> {
    return changed(call, (log) => {
      const stored = this.#stored(row, 'live')
      if (stored === undefined) return false
      if (this.model.deleteTime === undefined) this.table.remove(stored, log)
      else this.#replaced(call, stored, values, log, isRemovedNext === true ? 'nothing' : undefined)
      return true
    })
  }

  undelete(call: MemoryCall, { row, values }: RowWrite): Promise<E | undefined> {
    return changed(call, (log) => this.#replaced(call, this.#stored(row, 'deleted'), values, log))
  }

  batchGet(
    { read }: MemoryCall,
    keys: readonly string[],
    { tenant, where }: Reach,
    { maxBytes }: GetOptions = {},
  ): Promise<E[]> {
    return read(() => {
      const live = keys.flatMap((key) => this.table.find(key, tenant)).filter((row) => this.table.isLive(row))
      const rows = this.table.within(live, { where })
      if (maxBytes !== undefined) {
        const sizes = rows.map((row) => bytesIn(this.model, row))
        const fits = fitting(sizes, maxBytes)
        if (fits < rows.length) throw new TooManyBytes(maxBytes, fits)
      }
      return rows.map((row) => this.table.entityOf(row))
    })
  }

  find({ read }: MemoryCall, field: Field, value: string, reach: Reach): Promise<CredentialRow<E>[]> {
    const { textOf, compare } = this.model.keys
    return read(() => {
      const found = this.table.filter(
        (row) =>
          (field === this.model.key ? textOf(row) : row[field.property]) === value &&
          this.table.isLive(row) &&
          this.table.belongsTo(row, reach.tenant),
      )
      const sorted = this.table.within(found, reach).sort((a, b) => compare(textOf(a), textOf(b)))
      return sorted.slice(0, 2).map((columns) => ({ entity: this.table.entityOf(columns), columns }))
    })
  }

  /** Returns the tenants that have a row with the key. */
  tenantsOf({ read }: MemoryCall, key: string): Promise<string[]> {
    const { tenant } = this.model
    return read(() => this.table.find(key, undefined).map((row) => (tenant ? partIn(tenant, row) : '')))
  }

  /** Removes a chunk of expired rows and returns the number of removed rows. */
  purge({ write }: MemoryCall, before: Date, tenant: string | undefined, chunk: number): Promise<number> {
    return write((log) => {
      const expired = this.table.expired(before, tenant).slice(0, chunk)
      for (const row of expired) this.table.remove(row, log, 'purged')
      return expired.length
    })
  }

  #stored({ key, tenant, where, precondition }: Target, state: State): Values | undefined {
    const found = this.table
      .find(key, tenant)
      .filter((row) => state === 'all' || this.table.isLive(row) === (state === 'live'))
    const [stored] = this.table.within(found, { where })
    return stored !== undefined && precondition?.matches(stored) !== false ? stored : undefined
  }

  #replaced(
    { referable }: MemoryCall,
    stored: Values | undefined,
    values: Readonly<Values>,
    log: Log,
    telling?: Telling,
  ): E | undefined {
    if (stored === undefined) return undefined
    this.references?.check(stored, values, referable)
    return this.table.entityOf(this.table.replace(stored, values, log, telling))
  }
}

/** Runs a change, after determining the rows that the caller may refer to. */
const changed = <T>({ write, referable }: MemoryCall, change: (log: Log) => T): Promise<T> =>
  referable === undefined ? write(change) : referable.during(() => write(change))
