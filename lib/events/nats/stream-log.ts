import type { JsMsg } from '@nats-io/jetstream'
import { eventIn } from '../log/event-in.js'
import type { EventLog, LoggedEvent } from '../log/event-log.js'
import type { NatsStream } from './connection.js'
import { HEADERS } from './nats-sink.js'
import { type EventSubject, subjectFilter, subjectOf } from './subjects.js'

/** So many messages are asked for at once. */
const MOST_MESSAGES = 100

/**
 * The events of a stream of NATS JetStream. It is read by an ordered consumer of the stream, from a position that the reader keeps. A durable consumer
 * would keep the position in NATS, and would send again what was not acknowledged after what came later: order would be lost with each lost connection.
 */
export class StreamLog implements EventLog {
  /** @param onForeign - told of a message that is no event of its subject, and is left out. */
  constructor(
    private readonly stream: NatsStream,
    private readonly subject: EventSubject,
    private readonly onForeign: (problem: TypeError) => void,
  ) {}

  async *read(after: number, signal: AbortSignal): AsyncGenerator<LoggedEvent> {
    const { client, manager, packages } = await this.stream.open()
    const { state } = await manager.streams.info(this.stream.name)
    // A stream that was made anew begins again.
    const start = state.last_seq < after ? 1 : after + 1
    const reader = await client.consumers.get(this.stream.name, {
      filter_subjects: subjectFilter(this.stream.prefix, this.subject),
      deliver_policy: packages.DeliverPolicy.StartSequence,
      opt_start_seq: start,
    })
    const messages = await reader.consume({ max_messages: MOST_MESSAGES })
    const stop = () => messages.stop()
    signal.addEventListener('abort', stop, { once: true })
    try {
      if (signal.aborted) return
      for await (const message of messages) {
        const event = this.#eventOf(message)
        if (event !== undefined) yield event
      }
    } finally {
      signal.removeEventListener('abort', stop)
      await messages.close()
      await reader.delete().catch(() => {})
    }
  }

  async last(): Promise<number> {
    const { manager } = await this.stream.open()
    const filter = subjectFilter(this.stream.prefix, this.subject)
    const message = await manager.streams.getMessage(this.stream.name, { last_by_subj: filter })
    return message?.seq ?? 0
  }

  /** Who may send to the subjects of one tenant must not write events of another. */
  #eventOf({ seq, subject, data, headers }: JsMsg): LoggedEvent | undefined {
    const event = eventIn(Buffer.from(data))
    if (event === undefined || subjectOf(this.stream.prefix, event) !== subject) {
      this.onForeign(new TypeError(`message ${seq} of ${this.stream.name} is no event of ${subject}`))
      return undefined
    }
    const [number, epoch] = [HEADERS.seq, HEADERS.epoch].map((name) => Number(headers?.get(name) ?? 0))
    return { ...event, position: seq, seq: number ?? 0, epoch: epoch ?? 0 }
  }
}
