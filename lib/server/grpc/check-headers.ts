import type { IncomingHttpHeaders } from 'node:http2'
import { InvalidArgument, ResourceExhausted } from '../../errors.js'
import { SINGLE_HEADERS } from '../../gateway/http/metadata-of.js'

/** The bytes that RFC 9113 (6.5.2) adds for each header. */
const OVERHEAD = 32
/**
 * The maximum number of headers that node:http2 accepts. grpc-js creates a buffer for each binary header
 * value.
 */
const MAX_BINARY_VALUES = 128

/**
 * Limits the headers of a call before grpc-js parses them. Deletes headers that grpc-js would ignore, because
 * it writes their values to the console.
 * @returns the size of the headers in bytes.
 * @throws ResourceExhausted for too many headers, InvalidArgument for a required header that is unreadable.
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

/** Header names and values that gRPC allows. Names of HTTP/2 pseudo-headers begin with a colon. */
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
