import { Unavailable } from '../../errors.js'
import type { LoggedEvent } from '../log/event-log.js'
import type { Sink } from '../relay/sink.js'
import { apiCode, NatsStream, type StreamConnection } from './connection.js'
import type { NatsOptions } from './nats-options.js'
import { subjectOf } from './subjects.js'

/** From here on an event goes without its data. */
const MOST_BYTES = 512 * 1024
const ACKNOWLEDGED_WITHIN_MS = 5000
/** `message size exceeds maximum allowed` (JetStream API) */
const TOO_LARGE = 10054

/** The names of the headers of a message, beside those of NATS. */
export const HEADERS = {
  contentType: 'content-type',
  seq: 'ashlar-event-seq',
  epoch: 'ashlar-event-epoch',
} as const

/**
 * Delivers events to a stream of NATS JetStream, on the subject `<prefix>.<tenant>.<resource>.<verb>`. `Nats-Msg-Id` is the id of the event,
 * so that the stream drops what comes twice within its duplicate window.
 */
export function natsSink(options: NatsOptions): Sink {
  const stream = new NatsStream(options)
  return {
    deliver: async (event) => publish(await stream.open(), stream, event),
    close: () => stream.close(),
  }
}

async function publish({ client }: StreamConnection, stream: NatsStream, event: LoggedEvent): Promise<void> {
  const { headers } = await import('@nats-io/transport-node')
  const sent = headers()
  sent.set(HEADERS.contentType, 'application/cloudevents+json')
  if (event.seq > 0) {
    sent.set(HEADERS.seq, String(event.seq))
    sent.set(HEADERS.epoch, String(event.epoch))
  }
  try {
    const { stream: stored } = await client.publish(subjectOf(stream.prefix, event), payloadOf(event), {
      msgID: event.id,
      headers: sent,
      timeout: ACKNOWLEDGED_WITHIN_MS,
    })
    if (stored !== stream.name)
      throw new Unavailable(`the stream ${stored} has stored it, and not ${stream.name}`)
  } catch (error) {
    if (apiCode(error) === TOO_LARGE) throw error
    throw error instanceof Unavailable ? error : new Unavailable('NATS has not acknowledged an event', error)
  }
}

/** The event; without its data, and marked, where it is too large. */
function payloadOf({ payload }: LoggedEvent): Buffer {
  if (payload.length <= MOST_BYTES) return payload
  const { data: _, ...event } = JSON.parse(payload.toString()) as Record<string, unknown>
  return Buffer.from(JSON.stringify({ ...event, truncated: true }))
}
