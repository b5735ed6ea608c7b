import { create } from '@bufbuild/protobuf'
import type { IncomingMessage } from 'node:http'
import { HeldRequest, type UnauthenticatedBytes } from '../../bounds/unauthenticated-bytes.js'
import type { Caller } from '../../call.js'
import { type AshlarError, InvalidArgument } from '../../errors.js'
import { CONTENT_CODINGS } from '../../gateway/http/content-coding.js'
import { parseQuery } from '../../gateway/transcoding/query-text.js'
import type { Arriving } from './arriving.js'
import { checkCoding, messageOf, type RequestForm } from './request-bytes.js'

/** The parameters of a GET of Connect. */
const NAMES = ['connect', 'encoding', 'message', 'base64', 'compression'] as const
type Parameters = ReadonlyMap<string, string>

/**
 * The parameters of a GET. Unknown parameters are ignored, because links add some, such as `utm_source`.
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

/** The request that a query holds. One that is compressed is inflated after authorization. */
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

/** The query of a GET as a held request. */
class HeldQuery extends HeldRequest {
  bytes = 0

  constructor(
    unauthenticated: UnauthenticatedBytes,
    address: string,
    private readonly caller: Caller,
  ) {
    super(unauthenticated, address)
    // It is in the request line.
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

/** In either alphabet, with padding or without. */
const fromBase64 = (text: string): Buffer => {
  if (!/^(?:[A-Za-z0-9_-]*|[A-Za-z0-9+/]*)={0,2}$/.test(text))
    throw new InvalidArgument('', 'the parameter message is not base64')
  return Buffer.from(text, 'base64')
}

/** @throws InvalidArgument if the version of the protocol is not 1. */
export const checkVersion = (version: string | undefined): void => {
  if (version !== undefined && version.replace(/^v/, '') !== '1')
    throw new InvalidArgument('', 'the Connect version is 1: leave connect-protocol-version out, or send 1')
}
