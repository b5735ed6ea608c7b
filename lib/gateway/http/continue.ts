import type { IncomingMessage, ServerResponse } from 'node:http'

const waiting = new WeakMap<IncomingMessage, boolean>()

/**
 * Records that the client sends its body only after `100 Continue`. If that is never sent, the connection
 * closes after the response.
 */
export function expectContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response.shouldKeepAlive)
  response.shouldKeepAlive = false
}

/** Returns true if the client waits for `100 Continue`. */
export const awaitsContinue = (request: IncomingMessage): boolean => waiting.has(request)

/** Sends `100 Continue` if the client waits for it. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (!waiting.has(request)) return
  response.shouldKeepAlive = waiting.get(request) as boolean
  waiting.delete(request)
  response.writeContinue()
}
