import type { LoggedEvent } from '../log/event-log.js'

/** The maximum total size of the payloads held in memory. */
const MAX_BYTES = 64 * 1024 * 1024
/**
 * The maximum number of events per concurrent slot that may be done or waiting after an unfinished event. A
 * failing event must not block the others.
 */
const MAX_BEHIND = 16

/** The events in progress. Events of the same resource run one after another, others concurrently. */
export class InFlight {
  /** Events by position, in the order of the log. */
  readonly #events = new Map<number, { isDone: boolean }>()
  readonly #tails = new Map<string, Promise<void>>()
  #bytes = 0
  #running = 0
  #changed: () => void = () => {}

  /**
   * @param done - the position up to which all events are done.
   * @param most - the maximum number of events that run concurrently.
   */
  constructor(
    public done: number,
    private readonly most: number,
  ) {}

  /** Waits until another event may begin, or until the signal aborts, which also ends the running events. */
  async room(signal: AbortSignal): Promise<void> {
    const isFull = () =>
      this.#running >= this.most || this.#events.size >= MAX_BEHIND * this.most || this.#bytes >= MAX_BYTES
    const look = () => this.#changed()
    signal.addEventListener('abort', look, { once: true })
    while (isFull() && !signal.aborted) await this.#change()
    signal.removeEventListener('abort', look)
  }

  /** Lets other events run while an event waits for its next attempt. */
  async waiting(wait: () => Promise<void>): Promise<void> {
    this.#running--
    this.#changed()
    await wait()
    this.#running++
  }

  /** Waits until no event is in progress. */
  async idle(): Promise<void> {
    while (this.#tails.size > 0) await this.#change()
  }

  /**
   * Starts an event when the earlier events of its resource are done.
   *
   * @param work - handles the event. Rejects if it was abandoned and the event is to be read again.
   */
  begin(event: LoggedEvent, work: () => Promise<void>): void {
    const { position, payload } = event
    const item = { isDone: false }
    this.#events.set(position, item)
    this.#bytes += payload.length
    const key = JSON.stringify([event.tenant, event.resource, event.key])
    const run = async (): Promise<void> => {
      this.#running++
      try {
        await work()
        item.isDone = true
        this.#advance()
      } catch {
        // The event is read again.
      } finally {
        this.#running--
        this.#bytes -= payload.length
      }
    }
    const before = this.#tails.get(key)
    const tail = before === undefined ? run() : before.then(run)
    this.#tails.set(key, tail)
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
      this.#changed()
    })
  }

  /** Skips another worker's event. */
  skip({ position }: LoggedEvent): void {
    this.#events.set(position, { isDone: true })
    this.#advance()
  }

  #advance(): void {
    for (const [position, { isDone }] of this.#events) {
      if (!isDone) return
      this.done = position
      this.#events.delete(position)
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => (this.#changed = resolve))
  }
}
