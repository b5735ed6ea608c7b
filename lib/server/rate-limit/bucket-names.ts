import { createHash } from 'node:crypto'

/** The maximum number of names with their own bucket in one interval. */
const MAX_NAMES = { peer: 10_000, tenant: 100_000 } as const
/** The number of shared buckets for all further names. */
const SHARED = 1024
const TURN_MS = 10 * 60_000
const MAX_LENGTH = 256

/**
 * Assigns bucket names, limited in number, so that callers cannot create more buckets by inventing names or
 * addresses. A name keeps its bucket while it is in use. When all are taken, new names share buckets until
 * some become free.
 */
export class BucketNames {
  readonly #kind: keyof typeof MAX_NAMES
  readonly #now: () => number
  #recent = new Set<string>()
  #older = new Set<string>()
  #turnAt: number

  /** @param now - milliseconds since the epoch. */
  constructor(kind: keyof typeof MAX_NAMES, now: () => number = Date.now) {
    this.#kind = kind
    this.#now = now
    this.#turnAt = now() + TURN_MS
  }

  of(given: string): string {
    const name = given.length <= MAX_LENGTH ? given : `sha256:${digest(given).toString('hex')}`
    this.#turn()
    if (this.#recent.has(name)) return `${this.#kind}:${name}`
    const isNew = !this.#older.has(name)
    if (this.#recent.size + (isNew ? this.#older.size : 0) >= MAX_NAMES[this.#kind])
      return `${this.#kind}s:${digest(name).readUInt32BE() % SHARED}`
    this.#older.delete(name)
    this.#recent.add(name)
    return `${this.#kind}:${name}`
  }

  /** Frees the names that were not used in the previous interval. */
  #turn(): void {
    const now = this.#now()
    if (now < this.#turnAt) return
    this.#older = this.#recent
    this.#recent = new Set()
    this.#turnAt = now + TURN_MS
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
