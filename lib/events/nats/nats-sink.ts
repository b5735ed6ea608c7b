import { Unavailable } from '../../errors.js'
import type { LoggedEvent } from '../log/event-log.js'
import type { Sink } from '../relay/sink.js'
import { apiCode, NatsStream, type StreamConnection } from './connection.js'
import type { NatsOptions } from './nats-options.js'
import { subjectOf } from './event-subject.js'

/** Larger events are sent without their data. The limit is lower if the server's is. */
const MAX_BYTES = 512 * 1024
/** The part of the server's limit that is reserved for headers. */
const HEADER_BYTES = 1024
const ACKNOWLEDGED_WITHIN_MS = 5000
/** JetStream API: `message size exceeds maximum allowed`. */
const TOO_LARGE = 10054
/** JetStream API: the limits of the account, of the server's memory or disk, or of the stream. */
const NO_ROOM = new Set<unknown>([10002, 10023, 10028, 10047, 10077])

/** The headers of a message, in addition to NATS's own. */
export const HEADERS = {
  contentType: 'content-type',
  seq: 'ashlar-event-seq',
  epoch: 'ashlar-event-epoch',
} as const

/**
 * Returns a sink that delivers events to a NATS JetStream stream, with the subject
 * `<prefix>.<tenant>.<resource>.<verb>`. `Nats-Msg-Id` is the event's id, so that the stream drops duplicates
 * within its duplicate window.
 *
 * @example
 * ```ts
 * import { natsSink } from 'ashlar/events'
 *
 * const sink = natsSink({ servers: ['nats://a.internal:4222', 'nats://b.internal:4222'], replicas: 3 })
 * ```
 */
export function natsSink(options: NatsOptions): Sink {
  const stream = new NatsStream(options)
  return {
    startUpCheck: () => stream.startUpCheck(),
    deliver: async (event) => publish(await stream.open(), stream, event),
    close: () => stream.close(),
  }
}

async function publish(
  { client, mostBytes }: StreamConnection,
  stream: NatsStream,
  event: LoggedEvent,
): Promise<void> {
  const { errors, headers } = await import('@nats-io/transport-node')
  const sent = headers()
  sent.set(HEADERS.contentType, 'application/cloudevents+json')
  if (event.seq > 0) {
    sent.set(HEADERS.seq, String(event.seq))
    sent.set(HEADERS.epoch, String(event.epoch))
  }
  let end: () => void = () => {}
  // A message to a server that has disappeared is never acknowledged. If it was stored nevertheless, the
  // retry is dropped as a duplicate.
  const connectionLost = new Promise<never>((_, reject) => {
    end = stream.onReconnect(() =>
      reject(new Unavailable('NATS disconnected before it acknowledged an event')),
    )
  })
  try {
    const payload = payloadOf(event, Math.min(MAX_BYTES, mostBytes - HEADER_BYTES))
    const options = { msgID: event.id, headers: sent, timeout: ACKNOWLEDGED_WITHIN_MS }
    const publishing = client.publish(subjectOf(stream.prefix, event), payload, options)
    const { stream: stored } = await Promise.race([publishing, connectionLost])
    if (stored !== stream.name)
      throw new Unavailable(`the stream ${stored} stored it instead of ${stream.name}`)
  } catch (error) {
    // Even without its data the event exceeds the limit of the stream or server.
    if (apiCode(error) === TOO_LARGE || error instanceof errors.InvalidArgumentError) throw error
    stream.recheck()
    throw error instanceof Unavailable ? error : new Unavailable(notStored(stream.name, error), error)
  } finally {
    end()
  }
}

/**
 * Returns the reason with advice. It omits the event's subject, which some errors contain, because every
 * subject would count as a separate cause.
 */
function notStored(stream: string, error: unknown): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  const code = apiCode(error)
  if (NO_ROOM.has(code))
    return `the stream ${stream} is full (${message}): raise its limits, such as max_bytes and max_msgs, or the storage of the account or the server`
  if (typeof code === 'number') return `NATS did not store an event: ${message} (${code})`
  return `NATS did not acknowledge an event: ${WHY[name] ?? name}`
}

/** The reasons by error name. */
const WHY: Readonly<Record<string, string>> = {
  TimeoutError: `no response within ${ACKNOWLEDGED_WITHIN_MS} ms`,
  JetStreamNotEnabled: 'no server has the stream',
  PermissionViolationError: 'the login may not publish to its subject',
}

/** Returns the event. If it is too large, omits its data and marks it as truncated. */
function payloadOf({ payload }: LoggedEvent, most: number): Buffer {
  if (payload.length <= most) return payload
  const { data: _, ...event } = JSON.parse(payload.toString()) as Record<string, unknown>
  return Buffer.from(JSON.stringify({ ...event, truncated: true }))
}
