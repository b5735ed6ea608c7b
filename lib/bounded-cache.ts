/** The existing caches by name. */
const named = new Map<string, Set<WeakRef<{ readonly size: number }>>>()
const collected = new FinalizationRegistry<() => void>((forget) => forget())

/** Returns the total number of entries in all caches of each name. */
export const cacheSizes = (): ReadonlyMap<string, number> =>
  new Map(
    [...named].map(([name, caches]) => [
      name,
      [...caches].reduce((entries, cache) => entries + (cache.deref()?.size ?? 0), 0),
    ]),
  )

/**
 * Caches the most recently used entries, at most `capacity`, so that keys from user input cannot fill the
 * memory.
 */
export class BoundedCache<K, V> {
  readonly #entries = new Map<K, V>()

  /**
   * @param holds - a name for the content, such as `statements`. Caches of one name are measured together.
   */
  constructor(
    readonly capacity: number,
    holds: string,
  ) {
    if (!Number.isSafeInteger(capacity) || capacity < 1)
      throw new RangeError('capacity must be a positive integer')
    const caches = named.get(holds) ?? new Set()
    const reference = new WeakRef<{ readonly size: number }>(this)
    named.set(holds, caches.add(reference))
    collected.register(this, () => caches.delete(reference))
  }

  get size(): number {
    return this.#entries.size
  }

  /** Returns the value and marks it as used; undefined if it was never set or was evicted. */
  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    // At most half full, so the order of use does not matter yet.
    if (value === undefined || this.#entries.size < this.capacity / 2) return value
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  set(key: K, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.capacity) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }

  /** Returns the value, and creates it first if it is missing. */
  getOrSet(key: K, make: (key: K) => V): V {
    const cached = this.get(key)
    if (cached !== undefined) return cached
    const value = make(key)
    this.set(key, value)
    return value
  }
}
