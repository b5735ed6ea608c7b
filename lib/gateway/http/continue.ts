import type { IncomingMessage, ServerResponse } from 'node:http'

const waiting = new WeakMap<IncomingMessage, boolean>()

/**
 * Notes that the client sends its body only after `100 Continue`. Until that is sent, the connection closes
 * after its response.
 */
export function expectContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response.shouldKeepAlive)
  response.shouldKeepAlive = false
}

/** True if the client waits for `100 Continue`. */
export const awaitsContinue = (request: IncomingMessage): boolean => waiting.has(request)

/** Sends `100 Continue` if the client waits for it. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (!waiting.has(request)) return
  response.shouldKeepAlive = waiting.get(request) as boolean
  waiting.delete(request)
  response.writeContinue()
}
