import { randomBytes } from 'node:crypto'

/** Returns a new etag: 96 random bits in base64url. */
export const newEtag = (): string => take(12).toString('base64url')

/**
 * Returns a UUIDv7 (RFC 9562). UUIDv7s sort by creation time, so that new rows are added at the end of the
 * index.
 */
export function newKey(now: Date): string {
  const bytes = Buffer.from(take(16))
  bytes.writeUIntBE(now.getTime(), 0, 6)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Random bytes are generated in blocks, because each call is a system call. */
const BLOCK = 4096
let block = Buffer.alloc(0)
let used = 0

function take(count: number): Buffer {
  if (used + count > block.length) {
    block = randomBytes(BLOCK)
    used = 0
  }
  return block.subarray(used, (used += count))
}
