import type { JsMsg } from '@nats-io/jetstream'
import { Unavailable } from '../../errors.js'
import { eventIn } from '../log/event-in.js'
import { type EventLog, eventsBehind, type LoggedEvent } from '../log/event-log.js'
import type { NatsStream, StreamConnection } from './connection.js'
import { HEADERS } from './nats-sink.js'
import { type EventSubject, subjectFilter, subjectOf } from './event-subject.js'

/**
 * The options of a request for messages. A lost request is noticed after two heartbeats. Times are in
 * milliseconds.
 */
const READING = {
  max_messages: 100,
  expires: 5000,
  idle_heartbeat: 1000,
  abort_on_missing_resource: true,
} as const

/**
 * The events of a NATS JetStream stream. They are read with an ordered consumer from a position that the
 * reader stores. With a durable consumer, NATS would store the position and send unacknowledged messages
 * again after later ones, so that order would be lost with each lost connection.
 */
export class StreamLog implements EventLog {
  /** The creation time of the stream to which positions belong. */
  #created: string | undefined

  /**
   * @param onForeign - called for a message that is not an event of its subject. The message is skipped.
   */
  constructor(
    private readonly stream: NatsStream,
    private readonly subject: EventSubject,
    private readonly onForeign: (problem: TypeError) => void,
  ) {}

  async *read(after: number, signal: AbortSignal): AsyncGenerator<LoggedEvent> {
    for (let at = after, isFirst = true; !signal.aborted; isFirst = false)
      for await (const event of this.#readOnce(at, isFirst, signal)) {
        yield event
        at = event.position
      }
  }

  /**
   * Reads until a lost connection is restored. The client would then wait for up to 30 seconds before its
   * next request.
   */
  async *#readOnce(after: number, isFirst: boolean, signal: AbortSignal): AsyncGenerator<LoggedEvent> {
    const { client, manager, packages } = await this.#opened()
    const { created, state } = await manager.streams.info(this.stream.name)
    // A recreated stream starts from the beginning after the read of the old one has ended, because both use
    // the same positions.
    const isNew = state.last_seq < after || (this.#created !== undefined && this.#created !== created)
    if (isNew && !isFirst) throw new Unavailable(`the stream ${this.stream.name} was recreated`)
    const reader = await client.consumers.get(this.stream.name, {
      filter_subjects: subjectFilter(this.stream.prefix, this.subject),
      deliver_policy: packages.DeliverPolicy.StartSequence,
      opt_start_seq: isNew ? 1 : after + 1,
    })
    const messages = await reader.consume(READING)
    const stop = () => messages.stop()
    signal.addEventListener('abort', stop, { once: true })
    const ended = this.stream.onReconnect(stop)
    try {
      if (signal.aborted) return
      if (!isNew) this.#created = created
      for await (const message of messages) {
        const event = this.#eventOf(message)
        if (event !== undefined) yield event
        this.#created = created
      }
    } finally {
      ended()
      signal.removeEventListener('abort', stop)
      // `close` waits for the end of an iteration. If the signal was already aborted, there is none.
      messages.stop()
      const deleted = reader.delete().catch(() => {})
      if (signal.aborted) await deleted
    }
  }

  /** Opens the stream, and checks it again because it may have been deleted. */
  #opened(): Promise<StreamConnection> {
    this.stream.recheck()
    return this.stream.open()
  }

  async behind(position: number): Promise<number> {
    const { manager } = await this.stream.open()
    const filter = subjectFilter(this.stream.prefix, this.subject)
    const { state } = await manager.streams.info(this.stream.name)
    const message = await manager.streams.getMessage(this.stream.name, { last_by_subj: filter })
    const isNew = state.last_seq < position
    return eventsBehind({ first: state.first_seq, last: message?.seq ?? 0 }, isNew ? 0 : position)
  }

  /**
   * Parses a message. A client that may publish to the subjects of one tenant must neither write events of
   * another nor stop the reader.
   */
  #eventOf({ seq, subject, data, headers, time }: JsMsg): LoggedEvent | undefined {
    const event = eventIn(Buffer.from(data))
    if (event === undefined || subjectOf(this.stream.prefix, event) !== subject) {
      this.onForeign(new TypeError(`message ${seq} of ${this.stream.name} is not an event of ${subject}`))
      return undefined
    }
    const [number, epoch] = [HEADERS.seq, HEADERS.epoch].map((name) => countIn(headers?.get(name)))
    return { ...event, position: seq, seq: number ?? 0, epoch: epoch ?? 0, loggedAt: time }
  }
}

/** Parses a positive integer as the relay writes it. Returns 0 for other strings. */
const countIn = (text = ''): number => {
  const number = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0
  return Number.isSafeInteger(number) ? number : 0
}
