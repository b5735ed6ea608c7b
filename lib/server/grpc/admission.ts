import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { Metadata as GrpcMetadata } from '@grpc/grpc-js'
import { Unimplemented } from '../../errors.js'
import { timeoutMs } from '../../gateway/http/grpc-timeout.js'
import { requestIdFrom } from '../../text/request-id-from.js'
import type { UnauthenticatedBytes } from '../../bounds/unauthenticated-bytes.js'
import { Arrival } from './arrival.js'
import { checkHeaders } from './check-headers.js'
import { statusOf } from './unary.js'

/**
 * The delay after the deadline at which grpc-js ends calls that the chain has not ended, such as a call whose
 * request never arrived.
 */
const BACKSTOP_MS = 100

/** Accepts or rejects calls by their headers before grpc-js handles them. */
export class Admission {
  /** The call that was accepted last. grpc-js runs its interceptors in the same turn of the event loop. */
  latest: Arrival | undefined

  /** @param served - the served methods, by path. */
  constructor(
    readonly unauthenticated: UnauthenticatedBytes,
    readonly maxHeaderBytes: number,
    private readonly served: ReadonlyMap<string, unknown>,
  ) {}

  /** Returns true if the stream becomes a call. Otherwise the error has been sent to the client. */
  readonly takes = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean => {
    try {
      this.#admit(stream, headers)
      return true
    } catch (error) {
      refuse(stream, headers, error)
      return false
    }
  }

  /** @throws AshlarError if the method is not served or the headers cannot be read. */
  #admit(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const bytes = checkHeaders(headers, this.maxHeaderBytes)
    const { ':path': path = '' } = headers
    if (!this.served.has(path)) throw new Unimplemented(`the server does not implement the method ${path}`)
    const { 'grpc-timeout': timeout, 'grpc-encoding': coding } = headers
    let deadline: number | undefined
    if (timeout !== undefined) {
      const ms = timeoutMs(String(timeout))
      deadline = Date.now() + ms
      headers['grpc-timeout'] = backstopOf(ms)
    }
    const asked = { headerBytes: bytes, deadline, coding: coding as string | undefined }
    this.latest = new Arrival(stream, asked, this.unauthenticated)
  }
}

/** Formats a timeout for grpc-js, which reads at most 8 digits and at most 31 bits of milliseconds. */
const backstopOf = (ms: number): string | undefined => {
  const later = Math.ceil(ms) + BACKSTOP_MS
  if (later < 1e8) return `${later}m`
  return later < 2 ** 31 - 1000 ? `${Math.ceil(later / 1000)}S` : undefined
}

const refuse = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, error: unknown): void => {
  if (stream.destroyed) return
  const { code, details } = statusOf(error, new GrpcMetadata())
  stream.respond(
    {
      ':status': 200,
      'content-type': 'application/grpc+proto',
      'grpc-status': code,
      'grpc-message': encodeURI(details),
      'x-request-id': requestIdFrom(headers['x-request-id']),
    },
    { endStream: true },
  )
}
