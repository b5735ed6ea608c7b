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

/** The request's properties in the headers of a call. */
export interface AskedArrival {
  /** Bytes of the headers, which are kept as long as the call. */
  readonly headerBytes: number
  /** The caller's deadline, in milliseconds since the epoch. */
  readonly deadline: number | undefined
  /** The compression of compressed messages. */
  readonly coding: string | undefined
}

/** Bytes that a stream which is not read takes until its client has to wait: the window of HTTP/2. */
const WINDOW_BYTES = 64 * 1024

/** Before it is known which method is called, nothing is read. */
const NOTHING_YET: ArrivalLimits = { timeoutMs: 0, unreadMs: 0, maxMessageBytes: 0 }

/**
 * A client on Node half-closes a stream that it cancels, and resets it in a separate packet right after. An
 * end counts when no reset follows, because a half-close does not distinguish the two.
 */
const RESET_FOLLOWS_MS = 2

/** The limits of a method's requests. */
export interface ArrivalLimits {
  /** The time a request may take to come. */
  readonly timeoutMs: number
  /** The time its client may take nothing of a response, after that. */
  readonly unreadMs: number
  /** Bytes of a message, before and after inflation. */
  readonly maxMessageBytes: number
}

/** A call that takes one request. */
export interface OneRequestCall {
  /**
   * Called once, when the call should begin: its request is complete, is too large to be read before
   * authentication, or cannot be read.
   */
  onReadable(): void
}

/**
 * A call as HTTP/2 sees it. It reads the request in place of grpc-js, which inflates all that comes before
 * anybody knows whose it is, keeps what never ends, and takes a stream that was reset, or ends inside of a
 * message, for a complete one.
 */
export class Arrival extends HeldRequest {
  readonly caller = new Caller()
  /** When its headers came, in milliseconds since the epoch. */
  readonly at = Date.now()
  /** The request, where it has ended and came in one piece that is not compressed, as nearly all do. */
  whole: Uint8Array | undefined
  #first: Uint8Array | undefined
  #envelopes: Envelopes | undefined
  #hasEnded = false
  /** Nothing is read any more: because of the problem, or because the call has ended. */
  #isOver = false
  #problem: AshlarError | undefined
  #timer: NodeJS.Timeout | undefined
  #limits: ArrivalLimits = NOTHING_YET
  /** Undefined from its beginning on. */
  #call: OneRequestCall | undefined
  #reader: Reader | undefined
  /** Bytes of the request that the handler has. */
  #kept = 0

  constructor(
    readonly stream: ServerHttp2Stream,
    readonly asked: AskedArrival,
    unauthenticated: UnauthenticatedBytes,
  ) {
    super(unauthenticated, addressOf(stream))
  }

  /** Bytes of a message, before and after inflation. */
  get maxMessageBytes(): number {
    return this.#limits.maxMessageBytes
  }

  /** Begins to read one request. grpc-js no longer does. */
  start(call: OneRequestCall, limits: ArrivalLimits): void {
    this.#call = call
    const { stream } = this
    this.#begins(limits)
    stream.on('data', this.#receive).on('end', this.#finish).resume()
    this.unauthenticated.holdSoon(this)
  }

  /** Begins to read a stream of requests. grpc-js no longer does. */
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
   * The one request, once its caller has half-closed it.
   * @throws AshlarError for no message or several, for a request that ends inside of one, for one that is too
   * large.
   */
  async one(): Promise<Enveloped> {
    const envelopes = this.#gathered()
    // Behind the first message so much may come that it cannot be the only one.
    const isMore = () => envelopes.length > PREFIX_BYTES + (envelopes.claimed ?? 0) + EARLY_BYTES
    await this.#until(isMore)
    const one = envelopes.next()
    if (one === undefined) throw envelopes.length > 0 ? cutRequest() : unfit('no request message')
    if (envelopes.length === 0) return one
    throw this.#hasEnded && envelopes.next() === undefined ? cutRequest() : unfit('a second request message')
  }

  /** The next message of a stream, if it has come. @throws AshlarError when nothing can be read any more. */
  taken(): Enveloped | undefined {
    if (this.#isOver) throw this.#whyOver()
    return this.#envelopes?.next()
  }

  /**
   * Waits for the next message; undefined behind the last one. @throws as `taken`, and for a request that
   * ends inside of one.
   */
  async later(): Promise<Enveloped | undefined> {
    const envelopes = this.#gathered()
    let found: Enveloped | undefined
    this.count()
    await this.#until(() => (found = envelopes.next()) !== undefined)
    if (found === undefined && envelopes.length > 0) throw cutRequest()
    return found
  }

  /** Counts what the handler has of the request, inflated, as long as it may keep that. */
  keep(bytes: number): void {
    if (this.#kept === bytes) return
    this.#kept = bytes
    this.count()
  }

  refuse(reason: AshlarError): void {
    const { stream } = this
    // Its response is there, and is not read.
    if (stream.writableEnded) return stream.close(constants.NGHTTP2_CANCEL)
    this.caller.leave(reason)
    this.#fail(reason)
  }

  /** The call is over: nothing of the request is read any more. */
  close(): void {
    const { stream } = this
    this.unauthenticated.authenticated(this)
    clearTimeout(this.#timer)
    // Node's table of a session's streams can hold an ended stream until the next collection of the old
    // generation. What listens to the stream, and with it all of the call, must not stay as long.
    stream.removeAllListeners('data').removeAllListeners('end')
    if (!this.#hasEnded) this.#stopClient()
    this.#call = undefined
    this.#isOver = true
    if (this.#reader !== undefined) this.#wake()
  }

  /** The call ended without the chain: by a status of grpc-js, or because the client disconnected. */
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
    // Before anybody decides about the call: from then on it asks for no more.
    this.count(length > EARLY_BYTES ? WINDOW_BYTES : 0)
    // The request is larger than what is read before authentication.
    if (Math.max(claimed, length) > EARLY_BYTES) this.#begin()
    if (this.#reader?.isReady() === true) this.#wake()
    if (this.#reader === undefined && envelopes.length > EARLY_BYTES) this.stream.pause()
  }

  /** Counts the bytes in memory. @param more - bytes that arrive although they are not read. */
  count(more = 0): void {
    const came = this.#envelopes?.capacity ?? this.#first?.length ?? 0
    const besides = STREAM_BYTES + this.asked.headerBytes + this.#kept
    this.unauthenticated.hold(this, besides + came + more, besides)
  }

  /** All that has come and is not taken, in one place. */
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

  /** Waits for it, or for the end of the request. @throws AshlarError when nothing more can be read. */
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

  /** Reads nothing more, and drops what has come. A reader gets the problem; the first one counts. */
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
   * A client that goes on sending has to stop when it has the response. nghttp2 sends no status that is not
   * sent yet behind a reset.
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

/** Of the client: asking its socket costs more than the rest of an arrival. */
const addressOf = ({ session }: ServerHttp2Stream): string => {
  if (session === undefined) return ''
  let address = addresses.get(session)
  if (address === undefined) addresses.set(session, (address = session.socket.remoteAddress ?? ''))
  return address
}

/** A reader that waits for more of the request. */
interface Reader {
  readonly isReady: () => boolean
  readonly resolve: () => void
}

/** The status of gRPC that was sent; undefined before. */
const statusIn = ({ sentTrailers, sentHeaders }: ServerHttp2Stream): unknown => {
  const sent =
    (sentTrailers as typeof sentHeaders | undefined) ?? (sentHeaders as typeof sentHeaders | undefined)
  return sent?.['grpc-status']
}

const unfit = (what: string): AshlarError => new Unimplemented(`received ${what} for a method that takes one`)

const tooLarge = (limit: number): AshlarError =>
  new ResourceExhausted(`the message is larger than ${limit} bytes`)

/** A request that ends inside a message is not complete. */
const cutRequest = (): AshlarError => new AshlarError('INTERNAL', 'the request ended inside a message')
