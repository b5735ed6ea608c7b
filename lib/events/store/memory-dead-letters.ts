import type { LoggedEvent } from '../log/event-log.js'
import { type DeadLetter, textOf } from './sql-dead-letters.js'
import type { LetterStore } from './outbox-store.js'

interface Letter extends DeadLetter {
  readonly event: LoggedEvent
}

/** The dead letters of a memory database. */
export class MemoryLetters implements LetterStore {
  readonly #letters = new Map<number, Letter>()
  #last = 0

  record(cursor: string, event: LoggedEvent, reason: unknown): Promise<void> {
    for (const letter of this.#of(cursor))
      if (letter.eventId === event.id && letter.event.tenant === event.tenant) this.#letters.delete(letter.id)
    const id = ++this.#last
    const eventType = `${event.resource}.${event.verb}`
    const facts = { id, cursor, eventId: event.id, eventType, reason: textOf(reason) }
    this.#letters.set(id, { ...facts, givenUpAt: new Date(), isWaiting: false, event })
    return Promise.resolve()
  }

  list(limit: number, cursor?: string): Promise<DeadLetter[]> {
    const found = this.#of(cursor).slice(0, limit)
    return Promise.resolve(found.map(({ event: _, ...letter }) => letter))
  }

  counts(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>()
    for (const { cursor } of this.#letters.values()) counts.set(cursor, (counts.get(cursor) ?? 0) + 1)
    return Promise.resolve(counts)
  }

  replay(cursor: string, id?: number): Promise<number> {
    const found = this.#of(cursor).filter((letter) => id === undefined || letter.id === id)
    for (const letter of found) this.#letters.set(letter.id, { ...letter, isWaiting: true })
    return Promise.resolve(found.length)
  }

  waiting(cursor: string): Promise<{ readonly id: number; readonly event: LoggedEvent }[]> {
    return Promise.resolve(this.#of(cursor).filter(({ isWaiting }) => isWaiting))
  }

  remove(id: number): Promise<void> {
    return Promise.resolve(void this.#letters.delete(id))
  }

  removeAll(cursor: string): Promise<void> {
    for (const { id } of this.#of(cursor)) this.#letters.delete(id)
    return Promise.resolve()
  }

  keep(id: number, reason: unknown): Promise<void> {
    const letter = this.#letters.get(id)
    if (letter !== undefined) this.#letters.set(id, { ...letter, reason: textOf(reason), isWaiting: false })
    return Promise.resolve()
  }

  #of(cursor: string | undefined): Letter[] {
    return [...this.#letters.values()].filter((letter) => cursor === undefined || letter.cursor === cursor)
  }
}
