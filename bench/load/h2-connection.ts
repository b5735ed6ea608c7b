import { connect, type Socket } from 'node:net'

const FRAME_HEADER = 9
const [DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE] = [0, 1, 3, 4, 6, 7, 8]
const END_STREAM = 0x1
const END_HEADERS = 0x4
const ACK = 0x1
const LARGEST_WINDOW = 2 ** 31 - 1
const TOP_UP = 2 ** 30

interface Stream {
  body: Buffer | undefined
  readonly resolve: (body: Buffer) => void
  readonly reject: (error: Error) => void
}

/**
 * A gRPC client that does not parse headers. It needs a few microseconds per call, so that the measurement
 * shows the server. A call without a message in its response counts as failed.
 */
export class H2Connection {
  readonly #socket: Socket
  readonly #streams = new Map<number, Stream>()
  #nextId = 1
  #unread: Buffer | undefined
  #pending: Buffer[] = []
  #sinceTopUp = 0

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => this.#read(chunk))
    socket.on('close', () => this.#fail('the connection was closed'))
    socket.on('error', () => {}) // 'close' follows and reports the error to all waiting calls
    const settings = Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff]) // INITIAL_WINDOW_SIZE
    this.#send(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'))
    this.#send(frame(SETTINGS, 0, 0, settings))
    this.#send(frame(WINDOW_UPDATE, 0, 0, uint32(LARGEST_WINDOW - 65_535)))
  }

  static open(port: number): Promise<H2Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new H2Connection(socket)))
      socket.setNoDelay(true)
      socket.once('error', reject)
    })
  }

  /**
   * @param body - a framed message.
   * @returns the response message.
   */
  call(headers: Buffer, body: Buffer): Promise<Buffer> {
    const id = this.#nextId
    this.#nextId += 2
    const request = Buffer.allocUnsafe(2 * FRAME_HEADER + headers.length + body.length)
    head(request, 0, headers.length, HEADERS, END_HEADERS, id)
    headers.copy(request, FRAME_HEADER)
    const data = FRAME_HEADER + headers.length
    head(request, data, body.length, DATA, END_STREAM, id)
    body.copy(request, data + FRAME_HEADER)
    return new Promise((resolve, reject) => {
      this.#streams.set(id, { body: undefined, resolve, reject })
      this.#send(request)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Sends everything written in one turn of the event loop in one write. */
  #send(bytes: Buffer): void {
    if (this.#pending.push(bytes) > 1) return
    process.nextTick(() => {
      const all = this.#pending
      this.#pending = []
      this.#socket.write(all.length === 1 ? (all[0] as Buffer) : Buffer.concat(all))
    })
  }

  #read(chunk: Buffer): void {
    const bytes = this.#unread === undefined ? chunk : Buffer.concat([this.#unread, chunk])
    let at = 0
    while (bytes.length - at >= FRAME_HEADER) {
      const length = bytes.readUIntBE(at, 3)
      const end = at + FRAME_HEADER + length
      if (end > bytes.length) break
      const [type, flags] = [bytes[at + 3], bytes[at + 4] as number]
      this.#frame(type, flags, bytes.readUInt32BE(at + 5), bytes.subarray(at + FRAME_HEADER, end))
      at = end
    }
    this.#unread = at === bytes.length ? undefined : bytes.subarray(at)
  }

  #frame(type: number | undefined, flags: number, id: number, payload: Buffer): void {
    if (type === SETTINGS && (flags & ACK) === 0) this.#send(frame(SETTINGS, ACK, 0))
    else if (type === PING && (flags & ACK) === 0) this.#send(frame(PING, ACK, 0, payload))
    else if (type === GOAWAY) this.#fail('the server said GOAWAY')
    else if (type === DATA || type === HEADERS || type === RST_STREAM)
      this.#onStream(type, flags, id, payload)
  }

  #onStream(type: number, flags: number, id: number, payload: Buffer): void {
    const stream = this.#streams.get(id)
    if (stream === undefined) return
    if (type === DATA) {
      this.#sinceTopUp += payload.length
      if (this.#sinceTopUp > TOP_UP) {
        this.#send(frame(WINDOW_UPDATE, 0, 0, uint32(this.#sinceTopUp)))
        this.#sinceTopUp = 0
      }
      stream.body = stream.body === undefined ? payload : Buffer.concat([stream.body, payload])
    }
    if (type !== RST_STREAM && (flags & END_STREAM) === 0) return
    this.#streams.delete(id)
    if (stream.body !== undefined && type !== RST_STREAM) stream.resolve(stream.body.subarray(5))
    else stream.reject(new TypeError('the call failed'))
  }

  #fail(why: string): void {
    for (const { reject } of this.#streams.values()) reject(new TypeError(why))
    this.#streams.clear()
  }
}

function head(into: Buffer, at: number, length: number, type: number, flags: number, id: number): void {
  into.writeUIntBE(length, at, 3)
  into[at + 3] = type
  into[at + 4] = flags
  into.writeUInt32BE(id, at + 5)
}

function frame(type: number, flags: number, id: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const bytes = Buffer.alloc(FRAME_HEADER)
  head(bytes, 0, payload.length, type, flags, id)
  return Buffer.concat([bytes, payload])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
