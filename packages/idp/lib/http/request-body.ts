import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'

const LARGEST_BYTES = 56 * 1024

/**
 * Returns the whole body.
 *
 * @throws RangeError if it exceeds `most` bytes. Forms of the provider are smaller.
 */
export async function bodyOf(request: IncomingMessage, most = LARGEST_BYTES): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  // Read and discard the excess, so that the client receives the reason for the rejection.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= most) chunks.push(chunk)
  }
  if (bytes > most) throw new RangeError('the body is too large')
  return Buffer.concat(chunks).toString('utf8')
}

/** Returns the fields of a form. A field that is sent twice counts as missing. */
export async function formOf(request: IncomingMessage): Promise<ReadonlyMap<string, string>> {
  const fields = new Map<string, string>()
  const repeated = new Set<string>()
  for (const [key, value] of new URLSearchParams(await bodyOf(request))) {
    if (fields.has(key)) repeated.add(key)
    fields.set(key, value)
  }
  for (const key of repeated) fields.delete(key)
  return fields
}

/** Returns the request with a different body. */
export function withBody(request: IncomingMessage, text: string): IncomingMessage {
  const bytes = Buffer.from(text)
  request.headers['content-length'] = String(bytes.length)
  delete request.headers['transfer-encoding']
  return Object.create(request, {
    readable: { value: true },
    readableEncoding: { value: null },
    iterator: { value: () => Readable.from([bytes]) },
  }) as IncomingMessage
}
