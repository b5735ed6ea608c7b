import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Message } from '@bufbuild/protobuf'
import { AshlarError, Internal } from '../errors.js'
import { errorBody } from './error-body.js'
import type { Content } from './transcode.js'

/** How a stream of answers is framed: a line of JSON each, an event each, or the bytes as they come. */
export type Framing = 'ndjson' | 'sse' | 'raw'

/** How long the headers wait for a first answer, so that an early error still has its status. */
const OPEN_AFTER_MS = 1000
/** How often an event stream says that it is alive. */
const HEARTBEAT_MS = 15_000

const TYPES = {
  ndjson: 'application/x-ndjson',
  sse: 'text/event-stream',
  raw: 'application/octet-stream',
} as const

/** Server-Sent Events for who accepts them, else newline-delimited JSON. */
export const framingOf = (accept: string | undefined): Framing =>
  accept?.toLowerCase().includes('text/event-stream') === true ? 'sse' : 'ndjson'

/**
 * Sends each answer as it comes: `{"result": ...}` lines or `data:` events. An error before the first answer is thrown;
 * a later one ends the stream as `{"error": ...}` or an `error` event.
 */
export async function sendStream(
  response: ServerResponse,
  answers: AsyncIterable<Message>,
  framing: Framing,
  toContent: (message: Message) => Content,
  beforeHeaders: () => void,
): Promise<void> {
  const iterator = answers[Symbol.asyncIterator]()
  const open = (contentType: string): void => {
    if (response.headersSent) return
    beforeHeaders()
    response.writeHead(200, {
      'content-type': contentType,
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    response.flushHeaders()
  }
  const patience = setTimeout(() => open(TYPES[framing]), OPEN_AFTER_MS)
  const heartbeat =
    framing === 'sse'
      ? setInterval(() => response.headersSent && response.write(':\n\n'), HEARTBEAT_MS)
      : undefined
  try {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      const { contentType, body } = toContent(next.value)
      open(framing === 'raw' ? contentType : TYPES[framing])
      if (!response.write(frame(framing, body)))
        await Promise.race([once(response, 'drain'), once(response, 'close')])
      if (response.destroyed) break
    }
    open(TYPES[framing])
    response.end()
  } catch (thrown) {
    if (!response.headersSent) throw thrown
    endWithError(response, framing, thrown)
  } finally {
    clearTimeout(patience)
    clearInterval(heartbeat)
    await iterator.return?.()
  }
}

function frame(framing: Framing, body: string | Uint8Array): string | Uint8Array {
  if (framing === 'raw') return body
  return framing === 'sse' ? `data: ${String(body)}\n\n` : `{"result":${String(body)}}\n`
}

/** Raw bytes have no place for an error: the connection is cut, so that the answer is not taken for complete. */
function endWithError(response: ServerResponse, framing: Framing, thrown: unknown): void {
  const body = errorBody(thrown instanceof AshlarError ? thrown : new Internal(thrown))
  if (framing === 'raw') response.destroy()
  else response.end(framing === 'sse' ? `event: error\ndata: ${body}\n\n` : `{"error":${body}}\n`)
}
