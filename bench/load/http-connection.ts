import { connect, type Socket } from 'node:net'

const END_OF_HEAD = Buffer.from('\r\n\r\n')

interface Waiting {
  readonly resolve: (body: Buffer) => void
  readonly reject: (error: Error) => void
}

/**
 * An HTTP/1.1 client that sends one request at a time on a persistent connection. It supports responses with
 * a Content-Length.
 */
export class HttpConnection {
  readonly #socket: Socket
  #waiting: Waiting | undefined
  #unread: Buffer | undefined
  #bodyAt = 0
  #end = 0

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => this.#read(chunk))
    socket.on('close', () => this.#waiting?.reject(new TypeError('the connection was closed')))
    socket.on('error', () => {}) // 'close' follows and reports the error to the waiting call
  }

  static open(port: number): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new HttpConnection(socket)))
      socket.setNoDelay(true)
      socket.once('error', reject)
    })
  }

  /**
   * @param request - the complete request in wire format.
   * @returns the body of a 200 response.
   */
  call(request: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new TypeError('the server closed an idle connection'))
      this.#waiting = { resolve, reject }
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    const bytes = this.#unread === undefined ? chunk : Buffer.concat([this.#unread, chunk])
    if (this.#end === 0 && !this.#readHead(bytes)) {
      this.#unread = bytes
      return
    }
    if (bytes.length < this.#end) {
      this.#unread = bytes
      return
    }
    const body = bytes.subarray(this.#bodyAt, this.#end)
    const isOk = bytes.toString('latin1', 9, 12) === '200'
    const waiting = this.#waiting
    this.#unread = this.#waiting = undefined
    this.#end = 0
    if (isOk) waiting?.resolve(body)
    else waiting?.reject(new TypeError(bytes.toString('latin1', 0, 500)))
  }

  /** Parses the head of a response. Returns true once it is complete. */
  #readHead(bytes: Buffer): boolean {
    const end = bytes.indexOf(END_OF_HEAD)
    if (end < 0) return false
    const length = /\r\ncontent-length: *(\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1]
    this.#bodyAt = end + END_OF_HEAD.length
    this.#end = this.#bodyAt + Number(length ?? Number.NaN)
    if (Number.isNaN(this.#end)) throw new TypeError('a response without a Content-Length')
    return true
  }
}
