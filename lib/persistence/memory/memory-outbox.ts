import { WakeUp } from '../outbox/sql/wake-up.js'
import type { OutboxRow } from '../outbox/events/outbox-row.js'

/** An event in the outbox. */
export interface MemoryEvent extends OutboxRow {
  /** In the order of the changes. */
  readonly position: number
  readonly createdTime: Date
}

/** The events of a database in memory, in the order of their changes. A transaction that is rolled back takes out its own. */
export class MemoryOutbox {
  readonly wakeUp = WakeUp.inProcess()
  /** Those that are not delivered yet. */
  readonly events = new Map<number, MemoryEvent>()
  #position = 0
  #isTold = true

  append(rows: readonly OutboxRow[], log: (undo: () => void) => void): void {
    for (const row of rows) {
      const position = ++this.#position
      this.events.set(position, { ...row, position, createdTime: new Date() })
      log(() => this.events.delete(position))
      this.#isTold = false
    }
  }

  /** Wakes up who follows, when there is something new. */
  tell(): void {
    if (this.#isTold) return
    this.#isTold = true
    this.wakeUp.wake()
  }
}
