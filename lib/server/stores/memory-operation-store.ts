import {
  type OperationChange,
  type OperationRecord,
  type OperationStore,
  WORKER_DIED,
  type WorkerView,
} from './operation-store.js'

export interface MemoryOperationOptions {
  /** How long an operation is kept after it has ended, in milliseconds. Default 1 hour. */
  readonly ttlMs?: number
  /** Default: the system's clock. */
  readonly now?: () => Date
}

interface Entry {
  record: OperationRecord
  readonly owner: string
  isCancelRequested: boolean
  /** End of the lease while pending, of the entry afterwards. */
  until: number
}

const HOUR_MS = 3_600_000

/** Keeps operations in this process: the default. They end with it. */
export class MemoryOperationStore implements OperationStore {
  readonly #ttlMs: number
  readonly #now: () => number
  readonly #entries = new Map<string, Entry>()

  constructor({ ttlMs = HOUR_MS, now = () => new Date() }: MemoryOperationOptions = {}) {
    this.#ttlMs = ttlMs
    this.#now = () => now().getTime()
  }

  async create(record: OperationRecord, owner: string, leaseMs: number): Promise<void> {
    for (const name of this.#entries.keys()) this.#entry(name)
    this.#entries.set(record.name, { record, owner, isCancelRequested: false, until: this.#now() + leaseMs })
  }

  async write(
    name: string,
    owner: string,
    { metadata, end }: OperationChange,
    leaseMs: number,
  ): Promise<WorkerView> {
    const entry = this.#entry(name)
    if (entry === undefined || entry.owner !== owner || entry.record.status !== 'pending') {
      return { isHeld: false, isCancelRequested: entry?.isCancelRequested ?? false }
    }
    entry.record = { ...entry.record, ...(metadata && { metadata }), ...end }
    entry.until = this.#now() + (end === undefined ? leaseMs : this.#ttlMs)
    return { isHeld: true, isCancelRequested: entry.isCancelRequested }
  }

  async find(tenant: string, name: string): Promise<OperationRecord | undefined> {
    return this.#owned(tenant, name)?.record
  }

  async list(tenant: string, after: string, limit: number): Promise<OperationRecord[]> {
    const names = [...this.#entries.keys()].filter((name) => name > after).sort()
    const records = names.flatMap((name) => this.#owned(tenant, name)?.record ?? [])
    return records.slice(0, limit)
  }

  async requestCancel(tenant: string, name: string): Promise<boolean> {
    const entry = this.#owned(tenant, name)
    if (entry !== undefined) entry.isCancelRequested = true
    return entry !== undefined
  }

  async remove(tenant: string, name: string): Promise<boolean> {
    return this.#owned(tenant, name) !== undefined && this.#entries.delete(name)
  }

  #owned(tenant: string, name: string): Entry | undefined {
    const entry = this.#entry(name)
    return entry?.record.tenant === tenant ? entry : undefined
  }

  /** The entry as it is now: failed when its lease is over, gone when its time is. */
  #entry(name: string): Entry | undefined {
    const entry = this.#entries.get(name)
    if (entry === undefined || entry.until > this.#now()) return entry
    if (entry.record.status === 'pending') {
      entry.record = { ...entry.record, status: 'failed', failure: WORKER_DIED }
      entry.until += this.#ttlMs
      return this.#entry(name)
    }
    this.#entries.delete(name)
    return undefined
  }
}
