import type { IncomingMessage } from 'node:http'
import { type Caller, type Incoming, Metadata } from '../call.js'
import type { Binding } from './routing/bindings.js'
import { deadlineOf, metadataOf } from './http/metadata.js'

/** What the chain is told about an HTTP request. */
export const incomingOf = (
  { method }: Binding,
  request: IncomingMessage,
  caller: Caller,
  forwarded: readonly string[],
  ignoredMask: readonly string[],
): Incoming => ({
  method,
  transport: 'http',
  metadata: metadataOf(request, forwarded),
  caller,
  deadline: deadlineOf(request, Date.now()),
  peer: `${request.socket.remoteAddress ?? ''}:${request.socket.remotePort ?? ''}`,
  headers: new Metadata(),
  trailers: new Metadata(),
  ...(ignoredMask.length === 0 ? {} : { ignoredMask }),
})
