import { createHash } from 'node:crypto'
import { type DescMessage, type Message, toBinary, toJson } from '@bufbuild/protobuf'

/**
 * Returns a digest that is equal for equal requests from any client.
 * @param beside - other properties that distinguish two calls, such as their preconditions.
 */
export const fingerprintOf = (request: Message, desc: DescMessage, beside: object): string =>
  createHash('sha256')
    .update(hasMap(desc) ? canonicalJson(request, desc) : toBinary(desc, request))
    .update(JSON.stringify(beside))
    .digest('hex')

const maps = new WeakMap<DescMessage, boolean>()

/**
 * Returns true if the message contains a map. Map entries have no order on the wire, so a retry of the same
 * call may send them in a different order.
 */
const hasMap = (desc: DescMessage): boolean => {
  const known = maps.get(desc)
  if (known !== undefined) return known
  maps.set(desc, false) // ends the recursion for a recursive message
  const found = desc.fields.some(
    (field) => field.fieldKind === 'map' || (field.message !== undefined && hasMap(field.message)),
  )
  maps.set(desc, found)
  return found
}

const canonicalJson = (request: Message, desc: DescMessage): string | Uint8Array => {
  try {
    return JSON.stringify(toJson(desc, request), sortedKeys)
  } catch {
    return toBinary(desc, request) // an Any of an unknown type has no JSON
  }
}

const sortedKeys = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value
