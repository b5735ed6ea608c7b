import type { Database } from '../../engines/executor/executor.js'
import { named } from '../../engines/executor/named.js'

/** The NOTIFY channel, one per database. */
export const CHANNEL = 'ashlar_outbox'

/** The minimum time in milliseconds between two notifications of a process. */
const NOTIFY_EVERY_MS = 20

/**
 * Notifies the consumers of an outbox of committed events: directly in this process, and by NOTIFY in others.
 */
export class WakeUp {
  readonly #listeners = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #isDue = false

  private constructor(private readonly notify: (() => Promise<unknown>) | undefined) {}

  /** Returns the object of a database. Each database has only one. */
  static of(database: Database): WakeUp {
    const known = wakeUps.get(database)
    if (known !== undefined) return known
    const { notify } = database.dialect.stores
    const statement = notify === undefined ? undefined : named(notify(CHANNEL))
    const wakeUp = new WakeUp(statement && (() => database.run(statement, [])))
    wakeUps.set(database, wakeUp)
    return wakeUp
  }

  /** Returns an object that only notifies consumers in this process. */
  static inProcess(): WakeUp {
    return new WakeUp(undefined)
  }

  /**
   * Notifies all consumers. Call it after the commit and never inside the transaction, because NOTIFY takes a
   * lock that all commits wait for.
   */
  readonly wake = (): void => {
    this.hear()
    if (this.notify === undefined) return
    if (this.#timer !== undefined) this.#isDue = true
    else this.#send(this.notify)
  }

  /** Notifies consumers in this process. */
  hear(): void {
    for (const listener of this.#listeners) listener()
  }

  /**
   * Registers a listener.
   *
   * @returns a function that removes the listener.
   */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #send(notify: () => Promise<unknown>): void {
    this.#isDue = false
    // Consumers also poll, so a lost notification only causes a delay.
    notify().catch(() => {})
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#isDue) this.#send(notify)
    }, NOTIFY_EVERY_MS).unref()
  }
}

const wakeUps = new WeakMap<Database, WakeUp>()
