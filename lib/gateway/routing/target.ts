import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { InvalidArgument } from '../../errors.js'

/** A request target split at the question mark. */
export interface Target {
  /** The path as received, still escaped. It begins with `/`. */
  readonly path: string
  readonly query: string
}

/** Splits a request target in origin form or absolute form (RFC 9112 section 3.2). */
export function targetOf(url: string): Target {
  const origin = url.startsWith('/') ? url : absolutePath(url)
  const hash = origin.indexOf('#')
  const clean = hash < 0 ? origin : origin.slice(0, hash)
  const question = clean.indexOf('?')
  if (question < 0) return { path: clean, query: '' }
  return { path: clean.slice(0, question), query: clean.slice(question + 1) }
}

function absolutePath(url: string): string {
  const match = /^https?:\/\/[^/?#]*(\/[^#]*|\?[^#]*)?/i.exec(url)
  if (match === null) throw new InvalidArgument('', 'the request target is neither a path nor an http URL')
  const path = match[1] ?? '/'
  return path.startsWith('/') ? path : `/${path}`
}

/** Returns the scheme of the connection. A proxy in front may have terminated TLS. */
export const schemeOf = ({ socket }: IncomingMessage): 'http' | 'https' =>
  (socket as Partial<TLSSocket>).encrypted === true ? 'https' : 'http'
