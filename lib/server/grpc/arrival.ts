import type { ServerHttp2Stream } from 'node:http2'
import { AshlarError, Cancelled, CODES, type Code } from '../../errors.js'
import { Caller } from '../../call.js'

/** The prefix of each message: whether it is compressed, and its length. */
const PREFIX_BYTES = 5

/**
 * A call as HTTP/2 sees it, which shows where its request really ends. grpc-js takes a stream that was reset, or that
 * ends inside a message, for a complete one.
 */
export class Arrival {
  readonly caller = new Caller()
  #prefix = 0
  #length = 0
  #left = 0

  /** @param deadline - the caller's deadline, in milliseconds since the epoch. */
  constructor(
    readonly stream: ServerHttp2Stream,
    readonly deadline: number | undefined,
  ) {
    stream.on('data', this.#count)
  }

  /** Whether the stream is gone, so that the caller did not send its end. */
  get isReset(): boolean {
    return this.stream.closed || this.stream.destroyed
  }

  /** Whether the data so far ends inside a message. */
  get isCut(): boolean {
    return this.#prefix > 0 || this.#left > 0
  }

  /** The call ended without the chain: by a status of grpc-js, else because the client disconnected. */
  leave(): void {
    const { sentTrailers, sentHeaders } = this.stream
    const sent =
      (sentTrailers as typeof sentHeaders | undefined) ?? (sentHeaders as typeof sentHeaders | undefined)
    const status = Number(sent?.['grpc-status'] ?? CODES.OK)
    const code = (Object.keys(CODES) as Code[]).find((name) => CODES[name] === status)
    const isRefused = code !== undefined && code !== 'OK'
    this.caller.leave(
      isRefused ? new AshlarError(code, 'the call was refused on its way in') : new Cancelled(),
    )
  }

  readonly #count = (chunk: Buffer): void => {
    let at = 0
    while (at < chunk.length) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, chunk.length - at)
        this.#left -= taken
        at += taken
        continue
      }
      const byte = chunk[at++] ?? 0
      this.#length = this.#prefix === 0 ? 0 : this.#length * 256 + byte
      this.#prefix = (this.#prefix + 1) % PREFIX_BYTES
      if (this.#prefix === 0) this.#left = this.#length
    }
  }
}

/** A request that ends inside a message is not complete. */
export const cutRequest = (): AshlarError =>
  new AshlarError('INTERNAL', 'the request ended inside of a message')
