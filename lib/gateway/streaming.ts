import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Message } from '@bufbuild/protobuf'
import { AshlarError, Internal } from '../errors.js'
import { errorBody } from './http/error-body.js'
import { NOSNIFF } from './http/respond.js'
import type { Content } from './transcode.js'

/** The format of a response stream: a JSON line per message, an event per message, or raw bytes. */
export type Framing = 'ndjson' | 'sse' | 'raw'

export interface StreamOptions {
  readonly framing: Framing
  readonly toContent: (message: Message) => Content
  /** Called just before the headers are sent. */
  readonly beforeHeaders: () => void
  /** Called for failures of the server that are not errors of the call. */
  readonly onFailure: (error: unknown) => void
  /**
   * Milliseconds for which the headers wait for a first response, so that an early error still gets its
   * status. Default: 1,000.
   */
  readonly openAfterMs?: number
  /** The heartbeat interval of an event stream in milliseconds. Default: 15,000. */
  readonly heartbeatMs?: number
}

const TYPES = {
  ndjson: 'application/x-ndjson',
  sse: 'text/event-stream',
  raw: 'application/octet-stream',
} as const

/** Returns Server-Sent Events for clients that accept them, and newline-delimited JSON otherwise. */
export const framingOf = (accept: string | undefined): Framing =>
  accept?.toLowerCase().includes('text/event-stream') === true ? 'sse' : 'ndjson'

/**
 * Sends each response as it arrives, as `{"result": ...}` lines or `data:` events. Throws an error that
 * occurs before the headers are sent. A later error ends the stream as `{"error": ...}` or an `error` event.
 */
export async function sendStream(
  response: ServerResponse,
  messages: AsyncIterable<Message>,
  { framing, toContent, beforeHeaders, onFailure, openAfterMs = 1000, heartbeatMs = 15_000 }: StreamOptions,
): Promise<void> {
  const iterator = messages[Symbol.asyncIterator]()
  const open = (contentType: string = TYPES[framing]): void => {
    if (response.headersSent || response.destroyed) return
    beforeHeaders()
    response.writeHead(200, {
      'content-type': contentType,
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      ...NOSNIFF,
    })
    response.flushHeaders()
  }
  const patience = setTimeout(open, openAfterMs)
  const heartbeat = setInterval(() => {
    if (framing === 'sse' && response.headersSent) response.write(':\n\n')
  }, heartbeatMs)
  const stop = (): void => {
    clearTimeout(patience)
    clearInterval(heartbeat)
    iterator.return?.().catch(() => {})
  }
  response.once('close', stop)
  try {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      const { contentType, body } = toContent(next.value)
      open(framing === 'raw' ? contentType : TYPES[framing])
      if (!response.write(frame(framing, body))) await drained(response)
      if (response.destroyed) return
    }
    open()
    response.end()
  } catch (thrown) {
    if (!response.headersSent) throw thrown
    if (!(thrown instanceof AshlarError)) onFailure(thrown)
    endWithError(response, framing, thrown)
  } finally {
    stop()
  }
}

/** Waits until the client has read everything that was written, or has disconnected. */
export async function drained(response: ServerResponse): Promise<void> {
  const settled = new AbortController()
  const { signal } = settled
  try {
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })])
  } finally {
    settled.abort()
  }
}

function frame(framing: Framing, body: string | Uint8Array): string | Uint8Array {
  if (framing === 'raw') return body
  return framing === 'sse' ? `data: ${String(body)}\n\n` : `{"result":${String(body)}}\n`
}

/**
 * Ends a stream with an error. Raw bytes cannot contain an error, so the connection is cut to mark the
 * response as incomplete.
 */
function endWithError(response: ServerResponse, framing: Framing, thrown: unknown): void {
  const body = errorBody(thrown instanceof AshlarError ? thrown : new Internal(thrown))
  if (framing === 'raw') response.destroy()
  else response.end(framing === 'sse' ? `event: error\ndata: ${body}\n\n` : `{"error":${body}}\n`)
}
