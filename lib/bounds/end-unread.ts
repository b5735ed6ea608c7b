import { constants, type ServerHttp2Stream } from 'node:http2'
import { MAX_TIMER_MS } from './timer-limit.js'

/**
 * Ends a stream of HTTP/2 whose client takes nothing of a response for so long. How much it takes is up to
 * the client: with a window of zero bytes it would keep the response, and all of the call, for ever.
 * @param ms - counted anew whenever the client takes something. `Infinity` is no limit.
 */
export const endUnread = (stream: ServerHttp2Stream, ms: number): void => {
  if (!Number.isFinite(ms)) return
  const look = (): void => {
    if (stream.writableLength > 0) stream.close(constants.NGHTTP2_CANCEL)
    else wait()
  }
  const wait = (): void => void stream.setTimeout(Math.min(ms, MAX_TIMER_MS), look)
  wait()
}
