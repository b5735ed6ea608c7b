/**
 * A minimal part of protobuf, gRPC and HPACK, with which a request is encoded once and sent a million times.
 */

const varint = (value: number): number[] => {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128)
  return [...bytes, rest]
}

/** Encodes a length-delimited field. */
export const field = (number: number, value: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(value as string)
  return Buffer.concat([Buffer.from([...varint((number << 3) | 2), ...varint(bytes.length)]), bytes])
}

/**
 * Returns the value of the last length-delimited top-level field with that number; undefined if there is
 * none.
 */
export function lastField(message: Buffer, number: number): Buffer | undefined {
  let at = 0
  let found: Buffer | undefined
  const next = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = message[at++] as number
      value += (byte & 127) * 2 ** shift
      if (byte < 128) return value
    }
  }
  while (at < message.length) {
    const tag = next()
    const type = tag & 7
    if (type === 0) next()
    else if (type === 1) at += 8
    else if (type === 5) at += 4
    else {
      const length = next()
      if (tag >>> 3 === number) found = message.subarray(at, at + length)
      at += length
    }
  }
  return found
}

/** Returns the uncompressed gRPC frame of a message. */
export function grpcFrame(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(5 + message.length)
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, 5)
  return frame
}

/**
 * Returns a header block for a gRPC call. Every header is a literal outside the dynamic table, so that the
 * block is valid on any connection.
 */
export const grpcHeaders = (path: string, metadata: Readonly<Record<string, string>> = {}): Buffer =>
  Buffer.concat([
    Buffer.from([0x83, 0x86, 0x04]), // :method POST, :scheme http, and the name :path
    text(path),
    Buffer.from([0x01]), // :authority
    text('localhost'),
    ...Object.entries({ te: 'trailers', 'content-type': 'application/grpc', ...metadata }).flatMap(
      ([name, value]) => [Buffer.from([0x00]), text(name), text(value)],
    ),
  ])

/** Encodes a string for HPACK without Huffman coding (RFC 7541 section 5.2). */
function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  const length = bytes.length < 127 ? [bytes.length] : [127, ...varint(bytes.length - 127)]
  return Buffer.concat([Buffer.from(length), bytes])
}
