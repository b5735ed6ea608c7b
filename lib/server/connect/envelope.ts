import { InvalidArgument, Unimplemented } from '../../errors.js'

/** Bytes in front of a message: its flags, and its length in four bytes. */
export const PREFIX_BYTES = 5
const COMPRESSED = 0b0000_0001
/** The last envelope, which holds no message: of Connect, and of gRPC-Web. */
const ENDS = 0b1000_0010

/** What is inside of an envelope. */
export interface Enveloped {
  readonly isCompressed: boolean
  readonly bytes: Uint8Array
}

/**
 * The message of a request that has one.
 * @param body - all of its envelopes.
 * @throws Unimplemented for no message or several, InvalidArgument for a body that ends inside of one.
 */
export function onlyMessage(body: Uint8Array): Enveloped {
  let only: Enveloped | undefined
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  for (let at = 0; at < body.length;) {
    const start = at + PREFIX_BYTES
    const end = start > body.length ? Number.POSITIVE_INFINITY : start + view.getUint32(at + 1)
    if (end > body.length) throw new InvalidArgument('', 'the request ended inside of a message')
    const flags = view.getUint8(at)
    at = end
    if ((flags & ENDS) !== 0) continue
    if (only !== undefined) throw new Unimplemented('received a second request message')
    only = { isCompressed: (flags & COMPRESSED) !== 0, bytes: body.subarray(start, end) }
  }
  if (only === undefined) throw new Unimplemented('the call carries no message')
  return only
}
