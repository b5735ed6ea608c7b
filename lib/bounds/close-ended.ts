import type { Socket } from 'node:net'
import { MAX_TIMER_MS } from './timer-limit.js'

/**
 * Closes an HTTP/2 connection that this side has ended but the client has not. Node would wait for the client
 * without a limit, and the connection's timers no longer run. A client can cause this state with a GOAWAY.
 * @param ms - the time for the client to close its side. `Infinity` means no limit.
 */
export const closeEnded = (socket: Socket, ms: number): void => {
  if (!Number.isFinite(ms)) return
  let wasEnded = false
  const timer = setInterval(
    () => {
      if (wasEnded) socket.destroy()
      wasEnded = socket.writableEnded
    },
    Math.min(ms, MAX_TIMER_MS),
  ).unref()
  socket.once('close', () => clearInterval(timer))
}
