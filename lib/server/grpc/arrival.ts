import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import {
  AshlarError,
  Cancelled,
  CODES,
  type Code,
  DeadlineExceeded,
  ResourceExhausted,
  Unimplemented,
} from '../../errors.js'
import { Caller } from '../../call.js'
import {
  EARLY_BYTES,
  HeldRequest,
  STREAM_BYTES,
  type UnauthenticatedBytes,
} from '../../bounds/unauthenticated-bytes.js'
import { endUnread } from '../../bounds/end-unread.js'
import { type Enveloped, Envelopes, PREFIX_BYTES } from './envelope.js'
import { MAX_TIMER_MS } from '../../bounds/timer-limit.js'

/** The request properties found in the headers of a call. */
export interface AskedArrival {
  /** Size of the headers in bytes. They stay in memory as long as the call. */
  readonly headerBytes: number
  /** The caller's deadline, in milliseconds since the epoch. */
  readonly deadline: number | undefined
  /** The compression that compressed messages use. */
  readonly coding: string | undefined
}

/** The HTTP/2 window: the bytes that a client can send while nothing is read. */
const WINDOW_BYTES = 64 * 1024

/** No request data is read until the method is known. */
const NOTHING_YET: ArrivalLimits = { timeoutMs: 0, unreadMs: 0, maxMessageBytes: 0 }

/**
 * A Node client half-closes a stream that it cancels, and resets it in a separate packet. A half-close alone
 * does not distinguish the two, so the end of a stream counts only if no reset follows within this time.
 */
const RESET_FOLLOWS_MS = 2

/** The limits of a method's requests. */
export interface ArrivalLimits {
  /** The maximum time to receive a request. */
  readonly timeoutMs: number
  /** After that, the maximum time in which the client reads nothing of the response. */
  readonly unreadMs: number
  /** Maximum bytes of a message, before and after decompression. */
  readonly maxMessageBytes: number
}

/** A call whose client sends one request. */
export interface OneRequestCall {
  /**
   * Called once, when the call can begin: the request is complete, too large to be read before
   * authentication, or unreadable.
   */
  onReadable(): void
}

/**
 * A call at the HTTP/2 level. It reads the request instead of grpc-js, because grpc-js decompresses data
 * before the caller is known, keeps requests that never end, and accepts a stream as complete if it was reset
 * or ended inside a message.
 */
export class Arrival extends HeldRequest {
  readonly caller = new Caller()
  /** The time at which the headers arrived, in milliseconds since the epoch. */
  readonly at = Date.now()
  /** The request, if it arrived complete, in one piece and uncompressed, as almost all requests do. */
  whole: Uint8Array | undefined
  #first: Uint8Array | undefined
  #envelopes: Envelopes | undefined
  #hasEnded = false
  /** True if no more data is read, because of an error or because the call has ended. */
  #isOver = false
  #problem: AshlarError | undefined
  #timer: NodeJS.Timeout | undefined
  #limits: ArrivalLimits = NOTHING_YET
  /** Undefined once the call has begun. */
  #call: OneRequestCall | undefined
  #reader: Reader | undefined
  /** Bytes of the request that the handler holds. */
  #kept = 0

  constructor(
    readonly stream: ServerHttp2Stream,
    readonly asked: AskedArrival,
    unauthenticated: UnauthenticatedBytes,
  ) {
    super(unauthenticated, addressOf(stream))
  }

  get maxMessageBytes(): number {
    return this.#limits.maxMessageBytes
  }

  /** Starts reading a single request in place of grpc-js. */
  start(call: OneRequestCall, limits: ArrivalLimits): void {
    this.#call = call
    const { stream } = this
    this.#begins(limits)
    stream.on('data', this.#receive).on('end', this.#finish).resume()
    this.unauthenticated.holdSoon(this)
  }

  /** Starts reading a stream of requests in place of grpc-js. */
  startStream(limits: ArrivalLimits): void {
    const { stream } = this
    this.#begins(limits)
    stream
      .on('data', this.#receive)
      .on('end', () => setTimeout(this.#finish, RESET_FOLLOWS_MS))
      .resume()
    this.count()
  }

  /**
   * Returns the single request after the caller has half-closed the stream.
   * @throws AshlarError unless there is exactly one complete message within the size limit.
   */
  async one(): Promise<Enveloped> {
    const envelopes = this.#gathered()
    // More data after the first message means that it is not the only one.
    const isMore = () => envelopes.length > PREFIX_BYTES + (envelopes.claimed ?? 0) + EARLY_BYTES
    await this.#until(isMore)
    const one = envelopes.next()
    if (one === undefined) throw envelopes.length > 0 ? cutRequest() : unfit('no request message')
    if (envelopes.length === 0) return one
    throw this.#hasEnded && envelopes.next() === undefined ? cutRequest() : unfit('a second request message')
  }

  /**
   * Returns the next message of a stream if it has arrived.
   * @throws AshlarError if no more data can be read.
   */
  taken(): Enveloped | undefined {
    if (this.#isOver) throw this.#whyOver()
    return this.#envelopes?.next()
  }

  /**
   * Waits for the next message and returns it; undefined after the last one.
   * @throws AshlarError if no more data can be read, or if the request ends inside a message.
   */
  async later(): Promise<Enveloped | undefined> {
    const envelopes = this.#gathered()
    let found: Enveloped | undefined
    this.count()
    await this.#until(() => (found = envelopes.next()) !== undefined)
    if (found === undefined && envelopes.length > 0) throw cutRequest()
    return found
  }

  /** Counts the decompressed bytes that the handler holds. */
  keep(bytes: number): void {
    if (this.#kept === bytes) return
    this.#kept = bytes
    this.count()
  }

  refuse(reason: AshlarError): void {
    const { stream } = this
    // The response has been sent, but the client does not read it.
    if (stream.writableEnded) return stream.close(constants.NGHTTP2_CANCEL)
    this.caller.leave(reason)
    this.#fail(reason)
  }

  /** Ends the call. No more of the request is read. */
  close(): void {
    const { stream } = this
    this.unauthenticated.authenticated(this)
    clearTimeout(this.#timer)
    // Node's table of a session's streams can hold an ended stream until the old generation is collected. The
    // listeners would keep the whole call alive for that time.
    stream.removeAllListeners('data').removeAllListeners('end')
    if (!this.#hasEnded) this.#stopClient()
    this.#call = undefined
    this.#isOver = true
    if (this.#reader !== undefined) this.#wake()
  }

  /** Ends a call outside the chain: grpc-js has sent a status, or the client has disconnected. */
  leave(): void {
    const status = Number(statusIn(this.stream) ?? CODES.OK)
    const code = (Object.keys(CODES) as Code[]).find((name) => CODES[name] === status)
    const isRefused = code !== undefined && code !== 'OK'
    this.caller.leave(isRefused ? new AshlarError(code, 'the call was rejected on arrival') : new Cancelled())
  }

  #begins(limits: ArrivalLimits): void {
    this.#limits = limits
    const { timeoutMs } = limits
    if (timeoutMs <= MAX_TIMER_MS) this.#timer = setTimeout(this.#expire, timeoutMs).unref()
    this.stream.removeAllListeners('data').removeAllListeners('end')
  }

  readonly #receive = (chunk: Buffer): void => {
    if (this.#isOver) return
    const isFirst = this.#call !== undefined && this.#first === undefined && this.#envelopes === undefined
    const { length } = chunk
    const isOne = isFirst && length >= PREFIX_BYTES && length - PREFIX_BYTES <= this.#limits.maxMessageBytes
    if (isOne && chunk.readUIntBE(0, PREFIX_BYTES) === length - PREFIX_BYTES) {
      this.#first = Buffer.from(chunk)
      if (length > EARLY_BYTES) this.count()
      else this.unauthenticated.holdSoon(this)
    } else this.#gather(chunk)
  }

  readonly #finish = (): void => {
    const { stream } = this
    if (stream.closed || stream.destroyed) return
    this.#hasEnded = true
    this.isFinished = true
    if (this.owner !== undefined) this.unauthenticated.finish(this)
    this.whole = this.#first?.subarray(PREFIX_BYTES)
    const call = this.#call
    this.#call = undefined
    if (call !== undefined) call.onReadable()
    else this.#wake()
  }

  readonly #expire = (): void => {
    if (this.#call !== undefined) this.#fail(new DeadlineExceeded('the request did not arrive in time'))
    endUnread(this.stream, this.#limits.unreadMs)
  }

  #gather(chunk: Buffer): void {
    const envelopes = this.#gathered()
    envelopes.add(chunk)
    const { claimed = 0, length } = envelopes
    const { maxMessageBytes } = this
    if (claimed > maxMessageBytes) return this.#fail(tooLarge(maxMessageBytes))
    // Before authentication, counts the whole window that the client may fill. Afterwards nothing more is
    // requested.
    this.count(length > EARLY_BYTES ? WINDOW_BYTES : 0)
    // The request is too large to be read before authentication.
    if (Math.max(claimed, length) > EARLY_BYTES) this.#begin()
    if (this.#reader?.isReady() === true) this.#wake()
    if (this.#reader === undefined && envelopes.length > EARLY_BYTES) this.stream.pause()
  }

  /**
   * Counts the bytes in memory.
   * @param more - bytes that can arrive although they are not read.
   */
  count(more = 0): void {
    const came = this.#envelopes?.capacity ?? this.#first?.length ?? 0
    const besides = STREAM_BYTES + this.asked.headerBytes + this.#kept
    this.unauthenticated.hold(this, besides + came + more, besides)
  }

  /** Returns all received bytes that have not been read, in one buffer. */
  #gathered(): Envelopes {
    this.#envelopes ??= new Envelopes()
    if (this.#first !== undefined) this.#envelopes.add(this.#first)
    this.#first = undefined
    return this.#envelopes
  }

  #begin(): void {
    const call = this.#call
    this.#call = undefined
    call?.onReadable()
  }

  /**
   * Waits until `isReady` is true or the request ends.
   * @throws AshlarError if no more data can be read.
   */
  async #until(isReady: () => boolean): Promise<void> {
    if (!this.#isOver && !isReady() && !this.#hasEnded)
      await new Promise<void>((resolve) => {
        this.#reader = { isReady, resolve }
        this.stream.resume()
      })
    if (this.#isOver) throw this.#whyOver()
  }

  #whyOver(): AshlarError {
    return this.#problem ?? this.caller.reason ?? new Cancelled()
  }

  #wake(): void {
    const reader = this.#reader
    this.#reader = undefined
    reader?.resolve()
  }

  /** Stops reading and discards the received data. Readers get the first problem reported. */
  #fail(problem: AshlarError): void {
    this.#problem ??= problem
    this.#isOver = true
    this.#first = undefined
    this.#envelopes?.drop()
    this.stream.pause()
    this.unauthenticated.authenticated(this)
    this.#begin()
    this.#wake()
  }

  /**
   * Resets the stream so that the client stops sending once it has the response. nghttp2 does not send a
   * status that is still queued when the stream is reset.
   */
  #stopClient(): void {
    const { stream } = this
    if (stream.closed || stream.destroyed) return
    const stop = () => setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR))
    if (statusIn(stream) !== undefined) stop()
    else stream.once('wantTrailers', stop)
  }
}

const addresses = new WeakMap<Http2Session, string>()

/**
 * Returns the client's address. It is cached, because querying the socket is slower than the rest of an
 * arrival.
 */
const addressOf = ({ session }: ServerHttp2Stream): string => {
  if (session === undefined) return ''
  let address = addresses.get(session)
  if (address === undefined) addresses.set(session, (address = session.socket.remoteAddress ?? ''))
  return address
}

/** A reader that waits for more data of the request. */
interface Reader {
  readonly isReady: () => boolean
  readonly resolve: () => void
}

/** Returns the gRPC status that was sent; undefined if none was. */
const statusIn = ({ sentTrailers, sentHeaders }: ServerHttp2Stream): unknown => {
  const sent =
    (sentTrailers as typeof sentHeaders | undefined) ?? (sentHeaders as typeof sentHeaders | undefined)
  return sent?.['grpc-status']
}

const unfit = (what: string): AshlarError => new Unimplemented(`received ${what} for a method that takes one`)

const tooLarge = (limit: number): AshlarError =>
  new ResourceExhausted(`the message is larger than ${limit} bytes`)

/** Returns the error of a request that ends inside a message. */
const cutRequest = (): AshlarError => new AshlarError('INTERNAL', 'the request ended inside a message')
