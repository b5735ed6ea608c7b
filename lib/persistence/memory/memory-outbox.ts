import { WakeUp } from '../outbox/sql/wake-up.js'
import type { OutboxRow } from '../outbox/events/outbox-row.js'

/** An event in the outbox. */
export interface MemoryEvent extends OutboxRow {
  /** In the order of the changes, without gaps. */
  readonly position: number
  readonly createdTime: Date
}

/**
 * The events of a database in memory, in the order of their changes. A transaction that is rolled back takes
 * out its own.
 */
export class MemoryOutbox {
  readonly wakeUp = WakeUp.inProcess()
  /** Those that are not removed yet. */
  readonly events = new Map<number, MemoryEvent>()
  #position = 0
  #last = 0

  /** The position of the last event that is committed. */
  get last(): number {
    return this.#last
  }

  append(rows: readonly OutboxRow[], log: (undo: () => void) => void): void {
    for (const row of rows) {
      const position = ++this.#position
      this.events.set(position, { ...row, position, createdTime: new Date() })
      // The last change is undone first, and no other code writes until then.
      log(() => {
        this.events.delete(position)
        this.#position = position - 1
      })
    }
  }

  /**
   * At the end of a transaction: what is there is committed. Wakes up who follows, when there is something
   * new.
   */
  tell(): void {
    if (this.#last === this.#position) return
    this.#last = this.#position
    this.wakeUp.wake()
  }

  /** The committed events behind a position. */
  committed(after: number): MemoryEvent[] {
    return [...this.events.values()].filter(({ position }) => position > after && position <= this.#last)
  }

  /** Removes the events up to a position. */
  remove(upTo: number): void {
    for (const position of this.events.keys()) if (position <= upTo) this.events.delete(position)
  }
}
