import { connect } from 'node:net'

/**
 * Sends one unary call as raw HTTP/2 frames. A header can then be sent twice, which node:http2 refuses for
 * some headers. Resolves when the server has ended the stream.
 */
export function rawGrpcCall(
  address: string,
  path: string,
  headers: readonly (readonly [string, string])[],
): Promise<void> {
  const [host = '', port = ''] = address.split(':')
  const all = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', path],
    [':authority', address],
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
    ...headers,
  ] as const
  const block = Buffer.concat(all.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]))
  const bytes = Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(SETTINGS, 0, 0),
    frame(HEADERS, END_HEADERS, 1, block),
    frame(DATA, END_STREAM, 1, Buffer.alloc(5)),
  ])
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    const socket = connect(Number(port), host, () => socket.write(bytes))
    socket.once('error', reject)
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      while (received.length >= 9 && received.length >= 9 + received.readUIntBE(0, 3)) {
        const isLast = received.readUInt32BE(5) === 1 && ((received[4] ?? 0) & END_STREAM) !== 0
        const isReset = received[3] === RST_STREAM
        received = received.subarray(9 + received.readUIntBE(0, 3))
        if (isLast || isReset) {
          socket.destroy()
          resolve()
        }
      }
    })
  })
}

const [DATA, HEADERS, RST_STREAM, SETTINGS] = [0, 1, 3, 4]
const END_STREAM = 1
const END_HEADERS = 4

/** Returns an HTTP/2 frame (RFC 9113 section 4.1). */
function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Encodes a string of at most 126 bytes without Huffman coding (RFC 7541 section 5.2). */
const text = (value: string): Buffer => Buffer.concat([Buffer.of(value.length), Buffer.from(value, 'latin1')])
