import { WakeUp } from '../outbox/sql/wake-up.js'
import type { OutboxRow } from '../outbox/events/outbox-row.js'

/** An event in the outbox. */
export interface MemoryEvent extends OutboxRow {
  /** The number of the event in the order of changes, without gaps. */
  readonly position: number
  readonly createdTime: Date
}

/**
 * The events of a memory database in the order of changes. A rollback removes the events of its transaction.
 */
export class MemoryOutbox {
  readonly wakeUp = WakeUp.inProcess()
  /** The events that are not removed yet, by position. */
  readonly events = new Map<number, MemoryEvent>()
  #position = 0
  #last = 0

  /** The position of the last committed event. */
  get last(): number {
    return this.#last
  }

  append(rows: readonly OutboxRow[], log: (undo: () => void) => void): void {
    for (const row of rows) {
      const position = ++this.#position
      this.events.set(position, { ...row, position, createdTime: new Date() })
      // Changes are undone in reverse order, and no other code writes before that is complete.
      log(() => {
        this.events.delete(position)
        this.#position = position - 1
      })
    }
  }

  /** Marks all events as committed when a transaction ends. Wakes up consumers if there are new events. */
  tell(): void {
    if (this.#last === this.#position) return
    this.#last = this.#position
    this.wakeUp.wake()
  }

  /** Returns the committed events after a position. */
  committed(after: number): MemoryEvent[] {
    return [...this.events.values()].filter(({ position }) => position > after && position <= this.#last)
  }

  /** Removes the events up to a position. */
  remove(upTo: number): void {
    for (const position of this.events.keys()) if (position <= upTo) this.events.delete(position)
  }
}
