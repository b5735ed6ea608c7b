import { create } from '@bufbuild/protobuf'
import type { IncomingMessage } from 'node:http'
import { HeldRequest, type UnauthenticatedBytes } from '../../bounds/unauthenticated-bytes.js'
import type { Caller } from '../../call.js'
import { type AshlarError, InvalidArgument } from '../../errors.js'
import { CONTENT_CODINGS } from '../../gateway/http/content-coding.js'
import { parseQuery } from '../../gateway/transcoding/query-text.js'
import type { Arriving } from './arriving.js'
import { checkCoding, messageOf, type RequestForm } from './request-bytes.js'

/** The query parameters of a Connect GET request. */
const NAMES = ['connect', 'encoding', 'message', 'base64', 'compression'] as const
type Parameters = ReadonlyMap<string, string>

/**
 * Parses the query parameters of a GET request. Unknown parameters are ignored, because links may contain
 * some, such as `utm_source`.
 * @throws InvalidArgument for a malformed query.
 */
export const parametersOf = (query: string): Parameters => {
  const parameters = new Map<string, string>()
  for (const [name, value] of parseQuery(query)) {
    if (!(NAMES as readonly string[]).includes(name)) continue
    if (parameters.has(name)) throw new InvalidArgument('', `the parameter ${name} is given twice: send one`)
    parameters.set(name, value)
  }
  return parameters
}

/** Returns the request in a query. A compressed message is decompressed after authorization. */
export const fromQuery = async (
  form: RequestForm,
  parameters: Parameters,
  { socket }: IncomingMessage,
  caller: Caller,
): Promise<Arriving> => {
  const nothing = create(form.method.input)
  try {
    checkVersion(parameters.get('connect'))
    const bytes = bytesOf(parameters)
    const compression = parameters.get('compression')
    checkCoding(compression)
    const coding = CONTENT_CODINGS.find(({ name }) => name === compression)
    if (coding === undefined) return { message: await messageOf(form, bytes) }
    const held = new HeldQuery(form.unauthenticated, socket.remoteAddress ?? '', caller)
    const read = async () => {
      const inflated = Buffer.from(await coding.inflate(bytes, form.limit))
      held.bytes = inflated.length
      held.count()
      return { request: await messageOf(form, inflated), ignoredMask: [] }
    }
    return { message: nothing, rest: { knows: () => false, read }, held }
  } catch (error) {
    return { message: nothing, unreadable: error as Error }
  }
}

/** A GET request's query, counted as a request in memory. */
class HeldQuery extends HeldRequest {
  bytes = 0

  constructor(
    unauthenticated: UnauthenticatedBytes,
    address: string,
    private readonly caller: Caller,
  ) {
    super(unauthenticated, address)
    // The request line contains the whole request.
    this.isFinished = true
  }

  count(): void {
    this.unauthenticated.hold(this, this.bytes)
  }

  refuse(reason: AshlarError): void {
    this.caller.leave(reason)
  }

  drop(): void {
    this.unauthenticated.authenticated(this)
  }
}

const bytesOf = (parameters: Parameters): Buffer => {
  const text = parameters.get('message')
  if (text === undefined) throw new InvalidArgument('', 'the parameter message is missing')
  return parameters.get('base64') === '1' ? fromBase64(text) : Buffer.from(text)
}

/** Decodes base64 in either alphabet, with or without padding. */
const fromBase64 = (text: string): Buffer => {
  if (!/^(?:[A-Za-z0-9_-]*|[A-Za-z0-9+/]*)={0,2}$/.test(text))
    throw new InvalidArgument('', 'the parameter message is not base64')
  return Buffer.from(text, 'base64')
}

/** @throws InvalidArgument unless the protocol version is 1. */
export const checkVersion = (version: string | undefined): void => {
  if (version !== undefined && version.replace(/^v/, '') !== '1')
    throw new InvalidArgument('', 'the Connect version is 1: leave connect-protocol-version out, or send 1')
}
