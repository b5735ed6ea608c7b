import type { IncomingMessage, ServerResponse } from 'node:http'

const waiting = new WeakMap<IncomingMessage, boolean>()

/** Notes that the caller sends its body only when it is told to. Until then the answer is the last one of the connection. */
export function expectContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response.shouldKeepAlive)
  response.shouldKeepAlive = false
}

/** Whether the caller waits with its body. */
export const awaitsContinue = (request: IncomingMessage): boolean => waiting.has(request)

/** Tells the caller to send its body, if it waits for that. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  const keepAlive = waiting.get(request)
  if (keepAlive === undefined) return
  waiting.delete(request)
  response.shouldKeepAlive = keepAlive
  response.writeContinue()
}
