import { InvalidArgument, Unimplemented } from '../../errors.js'
import { Gathered } from '../../gateway/http/gathered-bytes.js'

/** The size of an envelope's prefix in bytes: the flags, and the length in four bytes. */
export const PREFIX_BYTES = 5
/** The flag of a compressed message. */
export const COMPRESSED = 0b0000_0001
/** The flags of the last envelope, which contains no message, in Connect and in gRPC-Web. */
const ENDS = 0b1000_0010

/** The content of an envelope. */
export interface Enveloped {
  readonly flags: number
  readonly bytes: Uint8Array
}

export const isCompressed = ({ flags }: Enveloped): boolean => (flags & COMPRESSED) !== 0

/**
 * Returns the only message of a Connect or gRPC-Web request.
 * @param body - all of its envelopes.
 * @throws Unimplemented unless there is exactly one message, InvalidArgument if the body ends inside one.
 */
export function onlyMessage(body: Uint8Array): Enveloped {
  let only: Enveloped | undefined
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  for (let at = 0; at < body.length;) {
    const start = at + PREFIX_BYTES
    const end = start > body.length ? Number.POSITIVE_INFINITY : start + view.getUint32(at + 1)
    if (end > body.length) throw new InvalidArgument('', 'the request ended inside a message')
    const flags = view.getUint8(at)
    at = end
    if ((flags & ENDS) !== 0) continue
    if (only !== undefined) throw new Unimplemented('received a second request message')
    only = { flags, bytes: body.subarray(start, end) }
  }
  if (only === undefined) throw new Unimplemented('the call contains no message')
  return only
}

/** Collects the bytes of a gRPC request and returns its messages one at a time. */
export class Envelopes extends Gathered {
  /** The length of the next message, from its prefix; undefined until the prefix has arrived. */
  get claimed(): number | undefined {
    const { buffer, start, end } = this
    return end - start < PREFIX_BYTES ? undefined : buffer.readUInt32BE(start + 1)
  }

  /** Removes and returns the next message; undefined until it is complete. */
  next(): Enveloped | undefined {
    const { claimed } = this
    if (claimed === undefined || this.end - this.start < PREFIX_BYTES + claimed) return undefined
    const taken = this.take(PREFIX_BYTES + claimed)
    return { flags: taken[0] ?? 0, bytes: taken.subarray(PREFIX_BYTES) }
  }
}
