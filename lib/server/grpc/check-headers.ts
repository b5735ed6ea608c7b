import type { IncomingHttpHeaders } from 'node:http2'
import { InvalidArgument, ResourceExhausted } from '../../errors.js'
import { SINGLE_HEADERS } from '../../gateway/http/metadata-of.js'

/** The overhead that RFC 9113 section 6.5.2 adds to each header, in bytes. */
const OVERHEAD = 32
/** As many headers as node:http2 takes. grpc-js makes a buffer of each value of a header in binary. */
const MAX_BINARY_VALUES = 128

/**
 * Bounds the headers of a call before grpc-js reads them, and drops what it would drop: it writes the values
 * of those to the console.
 * @returns the bytes of the headers.
 * @throws ResourceExhausted for too many, InvalidArgument for one that matters and cannot be read.
 */
export const checkHeaders = (headers: IncomingHttpHeaders, maxBytes: number): number => {
  let bytes = 0
  let binaryValues = 0
  for (const name in headers) {
    const value = headers[name] ?? ''
    for (const one of typeof value === 'string' ? [value] : value) {
      bytes += OVERHEAD + name.length + one.length
      if (name.endsWith('-bin')) binaryValues += valuesIn(one)
      else if (!PRINTABLE.test(one)) drop(headers, name)
    }
    if (!NAME.test(name)) drop(headers, name)
  }
  if (bytes > maxBytes) throw new ResourceExhausted(`the headers are larger than ${maxBytes} bytes`)
  if (binaryValues > MAX_BINARY_VALUES)
    throw new ResourceExhausted(`the headers have more than ${MAX_BINARY_VALUES} binary values`)
  return bytes
}

/** The names and texts that gRPC knows. Those of HTTP/2 itself begin with a colon. */
const NAME = /^:?[0-9a-z_.-]+$/
const PRINTABLE = /^[ -~]*$/
const SINGLE: ReadonlySet<string> = new Set(SINGLE_HEADERS)

const drop = (headers: IncomingHttpHeaders, name: string): void => {
  if (SINGLE.has(name) || name.startsWith('grpc-'))
    throw new InvalidArgument('', `the header ${name} must be printable ASCII`)
  if (!name.startsWith(':')) Reflect.deleteProperty(headers, name)
}

const valuesIn = (text: string): number => {
  let values = 1
  for (let at = text.indexOf(','); at >= 0; at = text.indexOf(',', at + 1)) values++
  return values
}
