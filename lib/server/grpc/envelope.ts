import { InvalidArgument, Unimplemented } from '../../errors.js'
import { Gathered } from '../../gateway/http/gathered-bytes.js'

/** Bytes in front of a message: its flags, and its length in four bytes. */
export const PREFIX_BYTES = 5
/** The flag of a compressed message. */
export const COMPRESSED = 0b0000_0001
/** The last envelope, which holds no message: of Connect, and of gRPC-Web. */
const ENDS = 0b1000_0010

/** The content of an envelope. */
export interface Enveloped {
  readonly flags: number
  readonly bytes: Uint8Array
}

export const isCompressed = ({ flags }: Enveloped): boolean => (flags & COMPRESSED) !== 0

/**
 * The message of a request of Connect or gRPC-Web that has one.
 * @param body - all of its envelopes.
 * @throws Unimplemented for no message or several, InvalidArgument for a body that ends inside of one.
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

/** The bytes of a gRPC request on their way in, out of which messages are taken one at a time. */
export class Envelopes extends Gathered {
  /** Bytes of the next message, as its prefix says; undefined before that has come. */
  get claimed(): number | undefined {
    const { buffer, start, end } = this
    return end - start < PREFIX_BYTES ? undefined : buffer.readUInt32BE(start + 1)
  }

  /** The next message, which is no longer here; undefined before it has come whole. */
  next(): Enveloped | undefined {
    const { claimed } = this
    if (claimed === undefined || this.end - this.start < PREFIX_BYTES + claimed) return undefined
    const taken = this.take(PREFIX_BYTES + claimed)
    return { flags: taken[0] ?? 0, bytes: taken.subarray(PREFIX_BYTES) }
  }
}
