import { CODES, ResourceExhausted } from '../../errors.js'
import {
  type OperationChange,
  type OperationRecord,
  type OperationStore,
  type Packed,
  WORKER_DIED,
  type WorkerView,
} from './operation-store.js'
import { ENTRY_BYTES, type Held, TenantShares } from '../stores/tenant-shares.js'

/** Options of a `MemoryOperationStore`. */
export interface MemoryOperationOptions {
  /** The time for which an ended operation is stored, in milliseconds. Default: 1 hour. */
  readonly ttlMs?: number
  /**
   * Maximum bytes of all operations with their metadata and responses, plus 1 KiB for each. Default: 64 MiB.
   */
  readonly maxBytes?: number
  /**
   * Maximum bytes of one tenant. Beyond it, the tenant's oldest ended operations are dropped. Default: a
   * quarter of `maxBytes`.
   */
  readonly maxTenantBytes?: number
  /** Default: the system clock. */
  readonly now?: () => Date
}

interface Entry extends Held {
  record: OperationRecord
  readonly owner: string
  isCancelRequested: boolean
}

const HOUR_MS = 3_600_000
const DEFAULT_BYTES = 64 * 1024 * 1024

/**
 * The default store, which keeps operations in this process. They are lost when it ends. Each tenant has a
 * share of the memory, and only the tenant's own ended operations are dropped for new ones.
 */
export class MemoryOperationStore implements OperationStore {
  readonly #ttlMs: number
  readonly #now: () => number
  readonly #entries: TenantShares<Entry>

  constructor({
    ttlMs = HOUR_MS,
    maxBytes = DEFAULT_BYTES,
    maxTenantBytes = maxBytes / 4,
    now = () => new Date(),
  }: MemoryOperationOptions = {}) {
    this.#ttlMs = ttlMs
    this.#now = () => now().getTime()
    this.#entries = new TenantShares({ maxBytes, maxTenantBytes, maxTenantEntries: Number.POSITIVE_INFINITY })
  }

  /** @throws ResourceExhausted if running operations fill the tenant's share. */
  async create(record: OperationRecord, owner: string, leaseMs: number): Promise<void> {
    const { name, tenant } = record
    const now = this.#now()
    this.#entries.sweep(now, (entry) => this.#bury(entry))
    const entry: Entry = {
      key: name,
      ...{ tenant, record, owner, isCancelRequested: false, isSettled: false },
      bytes: bytesOf(record),
      until: now + leaseMs,
    }
    if (!this.#entries.add(entry))
      throw new ResourceExhausted('too many operations of this tenant are running: retry later')
  }

  async write(name: string, owner: string, change: OperationChange, leaseMs: number): Promise<WorkerView> {
    const entry = this.#entry(name)
    if (entry === undefined || entry.owner !== owner || entry.record.status !== 'pending') {
      return { isHeld: false, isCancelRequested: entry?.isCancelRequested ?? false }
    }
    const { metadata, end } = change
    const { record } = entry
    const wanted = { ...record, ...(metadata && { metadata }), ...end }
    if (this.#entries.resize(entry, bytesOf(wanted))) entry.record = wanted
    // Progress that exceeds the space is dropped. The end is always stored, if necessary without its result.
    else if (end !== undefined)
      entry.record = { ...record, status: 'failed', failure: tooLarge(end.response) }
    const now = this.#now()
    if (end === undefined) this.#entries.extend(entry, now + leaseMs)
    else this.#entries.settle(entry, now + this.#ttlMs)
    return { isHeld: true, isCancelRequested: entry.isCancelRequested }
  }

  /** Returns the tenant's operation of that name; undefined if there is none. */
  async find(tenant: string, name: string): Promise<OperationRecord | undefined> {
    return this.#owned(tenant, name)?.record
  }

  async list(tenant: string, after: string, limit: number): Promise<OperationRecord[]> {
    const names = this.#entries.ofTenant(tenant).map(({ key }) => key)
    const behind = names.filter((name) => name > after).sort()
    const records: OperationRecord[] = []
    for (const name of behind) {
      if (records.length === limit) break
      const record = this.#entry(name)?.record
      if (record !== undefined) records.push(record)
    }
    return records
  }

  async requestCancel(tenant: string, name: string): Promise<boolean> {
    const entry = this.#owned(tenant, name)
    if (entry !== undefined) entry.isCancelRequested = true
    return entry !== undefined
  }

  async remove(tenant: string, name: string): Promise<boolean> {
    const entry = this.#owned(tenant, name)
    if (entry !== undefined) this.#entries.delete(entry)
    return entry !== undefined
  }

  #owned(tenant: string, name: string): Entry | undefined {
    const entry = this.#entry(name)
    return entry?.tenant === tenant ? entry : undefined
  }

  /**
   * Returns the entry's current state: failed after its lease has expired, undefined after its storage time.
   */
  #entry(name: string): Entry | undefined {
    const entry = this.#entries.get(name)
    if (entry === undefined || entry.until > this.#now()) return entry
    if (!entry.isSettled) this.#bury(entry)
    if (entry.until > this.#now()) return entry
    this.#entries.delete(entry)
    return undefined
  }

  /** Marks the operation as failed at the end of its lease, because its worker died. */
  #bury(entry: Entry): void {
    entry.record = { ...entry.record, status: 'failed', failure: WORKER_DIED }
    this.#entries.settle(entry, entry.until + this.#ttlMs)
  }
}

const bytesOf = ({ name, tenant, method, metadata, response, failure }: OperationRecord): number =>
  ENTRY_BYTES +
  2 * (name.length + tenant.length + method.length + (failure?.message.length ?? 0)) +
  packedBytes(metadata) +
  packedBytes(response) +
  (failure?.details ?? []).reduce((sum, detail) => sum + packedBytes(detail), 0)

const packedBytes = (packed: Packed | undefined): number =>
  packed === undefined ? 0 : 2 * packed.type.length + packed.value.byteLength

const tooLarge = (response: Packed | undefined) => ({
  code: CODES.RESOURCE_EXHAUSTED,
  message: `the work was done, but there is no room to store its response of ${response?.value.byteLength ?? 0} bytes`,
})
