import type { Database } from '../../engines/executor/executor.js'
import { named } from '../../engines/executor/named.js'

/** The channel of NOTIFY, for each database of a server. */
export const CHANNEL = 'ashlar_outbox'

/** A process notifies others at most once in this time. */
const NOTIFY_EVERY_MS = 20

/**
 * Tells those who follow an outbox that events have been committed: in this process at once, in others by
 * NOTIFY.
 */
export class WakeUp {
  readonly #listeners = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #isDue = false

  private constructor(private readonly notify: (() => Promise<unknown>) | undefined) {}

  /** The same for each database. */
  static of(database: Database): WakeUp {
    const known = wakeUps.get(database)
    if (known !== undefined) return known
    const { notify } = database.dialect.stores
    const statement = notify === undefined ? undefined : named(notify(CHANNEL))
    const wakeUp = new WakeUp(statement && (() => database.run(statement, [])))
    wakeUps.set(database, wakeUp)
    return wakeUp
  }

  /** Of what has no other process. */
  static inProcess(): WakeUp {
    return new WakeUp(undefined)
  }

  /**
   * Call it after the commit, never inside of the transaction: NOTIFY takes a lock that all commits wait for.
   */
  readonly wake = (): void => {
    this.hear()
    if (this.notify === undefined) return
    if (this.#timer !== undefined) this.#isDue = true
    else this.#send(this.notify)
  }

  /** Tells those who follow it in this process. */
  hear(): void {
    for (const listener of this.#listeners) listener()
  }

  /** @returns a function that ends it. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #send(notify: () => Promise<unknown>): void {
    this.#isDue = false
    // Followers of the outbox poll as well, so a lost notification only causes a delay.
    notify().catch(() => {})
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#isDue) this.#send(notify)
    }, NOTIFY_EVERY_MS).unref()
  }
}

const wakeUps = new WeakMap<Database, WakeUp>()
