import type { Socket } from 'node:net'
import { MAX_TIMER_MS } from './timer-limit.js'

/**
 * Closes a connection of HTTP/2 that has ended here, and that its client keeps: Node waits for the client
 * without end, and the timers of the connection are gone by then. A client can bring this about by itself,
 * with a GOAWAY.
 * @param ms - for the client to close its side. `Infinity` means no limit.
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
