import { constants, type ServerHttp2Stream } from 'node:http2'
import { MAX_TIMER_MS } from './timer-limit.js'

/**
 * Ends an HTTP/2 stream whose client reads nothing of a response for this time. The client controls the flow:
 * with a window of zero bytes it would keep the response and the whole call in memory forever.
 * @param ms - restarted whenever the client reads. `Infinity` means no limit.
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
