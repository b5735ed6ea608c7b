import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Caller } from '../../call.js'
import { type AshlarError, Cancelled, InvalidArgument } from '../../errors.js'
import {
  EARLY_BYTES,
  HeldRequest,
  STREAM_BYTES,
  type UnauthenticatedBytes,
} from '../../bounds/unauthenticated-bytes.js'
import { inflateBody, tooLarge } from './content-coding.js'
import { awaitsContinue } from './continue.js'
import { Gathered } from './gathered-bytes.js'
import { OwnStatusError } from './own-status-error.js'
import { type Json, parseJson } from '../json/parse.js'

/** Returns true if the request has a body. In HTTP/2, the body may be empty. */
export const hasBody = ({ headers, httpVersionMajor, stream }: IncomingMessage & Framed): boolean =>
  httpVersionMajor === 2
    ? stream?.endAfterHeaders === false
    : headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/** The HTTP/2 equivalent of `Transfer-Encoding`. */
interface Framed {
  readonly stream?: { readonly endAfterHeaders: boolean }
}

const NOTHING = Buffer.alloc(0)

/**
 * The bytes of an unread body that this process may receive nevertheless, in stream buffers and flow-control
 * windows.
 */
const UNREAD_BYTES = 64 * 1024

/**
 * A body that is read in two steps: its beginning, and the rest after authorization. A body compressed with
 * gzip, deflate or brotli is decompressed only after authorization and once it is complete. Otherwise a few
 * bytes could cause much work, and a slow client would occupy a decoder.
 */
export class Body extends HeldRequest {
  readonly #request: IncomingMessage
  readonly #limit: number
  readonly #caller: Caller
  #came: Promise<Buffer> | undefined
  /** The bytes in memory, and the part of them that is not the body itself. */
  #bytes = 0
  #besides = 0
  #whole: Promise<Buffer> | undefined
  /** True once the whole body may be read. */
  #isWanted = false
  #onMore: (() => void) | undefined
  #fail: ((reason: Error) => void) | undefined

  /**
   * @param limit - maximum bytes, before and after decompression.
   * @param caller - the caller, whose call ends if the body is too large before authentication.
   */
  constructor(
    request: IncomingMessage,
    limit: number,
    caller: Caller,
    unauthenticated: UnauthenticatedBytes,
  ) {
    super(unauthenticated, request.socket.remoteAddress ?? '')
    this.#request = request
    this.#limit = limit
    this.#caller = caller
  }

  /**
   * Returns a small or empty body. Undefined if there is more, which the client must then hold back, or if
   * the body is compressed.
   * @throws OwnStatusError 413 if it exceeds the limit.
   */
  async beginning(): Promise<Buffer | undefined> {
    const request = this.#request
    const length = lengthOf(request)
    if (length > this.#limit) throw tooLarge(this.#limit)
    if (!hasBody(request)) return NOTHING
    if (request.readableEnded) {
      const early = withinLimit(takenByFramework(request), this.#limit)
      return early.length > EARLY_BYTES ? undefined : early
    }
    const isLater = awaitsContinue(request) || length > EARLY_BYTES || codingOf(request) !== 'identity'
    const whole = (this.#came ??= this.#collect())
    // A body with a short Content-Length is complete soon.
    if (length > 0 && !isLater) return whole
    whole.catch(() => {})
    if (isLater) return undefined
    const more = new Promise<undefined>((resolve) => (this.#onMore = () => resolve(undefined)))
    return Promise.race([whole, more])
  }

  /**
   * Returns the whole body.
   * @throws as `beginning`, and OwnStatusError 415 for another content coding.
   */
  async whole(): Promise<Buffer> {
    checkLength(this.#request, this.#limit)
    return (this.#whole ??= this.#read())
  }

  count(): void {
    this.unauthenticated.hold(this, this.#bytes, this.#besides)
  }

  /** Counts further memory of the request, such as a decompressed message. */
  holdMore(bytes: number): void {
    this.#bytes += bytes
    this.count()
  }

  /** Stops reading. The remaining data is discarded, so that the client can read the response. */
  drop(): void {
    this.unauthenticated.authenticated(this)
    if (this.#came !== undefined) this.#request.removeAllListeners('data').resume()
  }

  refuse(reason: AshlarError): void {
    this.#caller.leave(reason)
    this.#fail?.(reason)
    this.#request.pause().removeAllListeners('data')
  }

  async #read(): Promise<Buffer> {
    const request = this.#request
    if (this.#came === undefined && request.readableEnded)
      return withinLimit(takenByFramework(request), this.#limit)
    this.#isWanted = true
    if (this.#came === undefined) this.#came = this.#collect()
    else request.resume()
    const came = await this.#came
    const coding = codingOf(request)
    // An empty body counts as missing, whatever its coding (RFC 9110 section 6.4).
    if (coding === 'identity' || came.length === 0) return came
    const inflated = await inflateBody(coding, came, this.#limit)
    this.holdMore(inflated.length)
    return inflated
  }

  /** Collects the body as it arrives. Until the rest is wanted, the client must wait after the beginning. */
  #collect(): Promise<Buffer> {
    const request = this.#request
    this.#besides = request.httpVersionMajor === 2 ? STREAM_BYTES : 0
    this.#bytes = this.#besides
    let first: Buffer | undefined
    let gathered: Gathered | undefined
    return new Promise((resolve, reject) => {
      this.#fail = reject
      let length = 0
      request.on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length > this.#limit) return reject(tooLarge(this.#limit))
        if (first === undefined) first = Buffer.from(chunk)
        else (gathered ??= Gathered.of(first)).add(chunk)
        const isMore = length > EARLY_BYTES && !this.#isWanted
        const unread = isMore ? UNREAD_BYTES : 0
        this.#bytes = this.#besides + (gathered?.capacity ?? length) + unread
        if (gathered === undefined && length <= EARLY_BYTES) this.unauthenticated.holdSoon(this)
        else this.count()
        if (!isMore) return
        request.pause()
        this.#onMore?.()
      })
      request.once('end', () => {
        this.unauthenticated.finish(this)
        resolve(gathered?.take(length) ?? first ?? NOTHING)
      })
      request.once('error', (cause) => reject(new Cancelled(cause)))
      request.once('close', () => {
        if (!request.complete) reject(new Cancelled())
      })
      if (this.#besides > 0) this.unauthenticated.holdSoon(this)
    })
  }
}

const codingOf = ({ headers }: IncomingMessage): string =>
  (headers['content-encoding'] ?? 'identity').trim().toLowerCase()

/** @throws OwnStatusError 413 if the Content-Length exceeds the limit. */
export function checkLength(request: IncomingMessage, limit: number): void {
  if (lengthOf(request) > limit) throw tooLarge(limit)
}

/** Returns the Content-Length; 0 if there is none. */
const lengthOf = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? 0)

/** Parses a body as JSON; undefined if it is empty. */
export function jsonOf(bytes: Buffer): Json | undefined {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw new InvalidArgument('', 'the body is not UTF-8')
  const text = bytes.toString('utf8')
  return parseJson(text.startsWith('\ufeff') ? text.slice(1) : text)
}

const JSON_TYPE = /^application\/(?:json|[a-z0-9!#$&^_.+-]+\+json)$/

/**
 * @throws OwnStatusError 415 for a type that is not JSON, or for a charset other than UTF-8. A missing type
 *   counts as JSON, an empty one does not.
 */
export function checkJsonType(contentType: string | undefined): void {
  if (contentType === undefined || contentType === 'application/json') return
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice(8)
  const isUtf8Text =
    charset === undefined || charset === 'utf-8' || charset === '"utf-8"' || charset === 'utf8'
  if (JSON_TYPE.test(type) && isUtf8Text) return
  throw new OwnStatusError(415, 'INVALID_ARGUMENT', 'the Content-Type must be application/json in UTF-8', {
    accept: 'application/json',
  })
}

/** Returns the body that a parser of the surrounding Express or Fastify application has read. */
function takenByFramework({ body }: IncomingMessage & { readonly body?: unknown }): Buffer {
  if (body === undefined) return Buffer.alloc(0)
  if (Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

function withinLimit(bytes: Buffer, limit: number): Buffer {
  if (bytes.length > limit) throw tooLarge(limit)
  return bytes
}
