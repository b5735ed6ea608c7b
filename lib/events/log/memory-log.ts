import type { MemoryEvent, MemoryOutbox } from '../../persistence/memory/memory-outbox.js'
import { eventsBehind, type LogEnds, type LoggedEvent } from './event-log.js'
import { STREAM_CURSOR } from './cursor-names.js'
import { Poll } from './poll.js'
import type { OutboxLog } from './outbox-log.js'

/**
 * The log of a memory database. Its transactions run one after another, so events are ordered when they are
 * written.
 */
export class MemoryLog implements Pick<OutboxLog, keyof OutboxLog> {
  /**
   * @param cursors - returns the cursors of workers.
   */
  constructor(
    private readonly outbox: MemoryOutbox,
    private readonly cursors: () => readonly { readonly name: string; readonly position: number }[],
  ) {}

  async *read(after: number, signal: AbortSignal): AsyncGenerator<LoggedEvent> {
    const poll = new Poll(this.outbox.wakeUp)
    try {
      for (let at = after; !signal.aborted;) {
        poll.begin()
        const found = this.outbox.committed(at)
        for (const event of found) {
          yield loggedEvent(event)
          at = event.position
        }
        await poll.wait(found.length > 0, signal)
      }
    } finally {
      poll.end()
    }
  }

  prune(): Promise<void> {
    const own = this.cursors().filter(({ name }) => !name.startsWith(STREAM_CURSOR))
    if (own.length > 0) this.outbox.remove(Math.min(...own.map(({ position }) => position)))
    return Promise.resolve()
  }

  ends(): Promise<LogEnds> {
    return Promise.resolve({ first: this.outbox.committed(0)[0]?.position, last: this.outbox.last })
  }

  async behind(position: number): Promise<number> {
    return eventsBehind(await this.ends(), position)
  }

  unsequenced(): Promise<number> {
    return Promise.resolve(0)
  }
}

const loggedEvent = (row: MemoryEvent): LoggedEvent => ({
  position: row.position,
  id: row.id,
  tenant: row.accountId,
  resource: row.aggregateType,
  verb: row.eventType.slice(row.aggregateType.length + 1),
  key: row.aggregateId,
  payload: row.payload,
  seq: 0,
  epoch: 0,
})
