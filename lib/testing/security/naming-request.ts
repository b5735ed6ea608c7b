import { create, type DescMessage, type Message } from '@bufbuild/protobuf'
import { CODES } from '../../errors.js'
import type { ServedMethod } from '../../server/served-methods.js'
import { heldKey } from './world/requests.js'
import type { Subject } from './world/subjects.js'
import { makeRow, nextNumber, type Row, type Side, type World } from './world/world.js'

/**
 * Creates the request of one method.
 * @param key - returns a resource's key for the full name of its message, or its name if it has one, such as
 *   `shelves/s1/books/b1`. It is a string, which integer fields accept as well. The check calls the factory
 *   several times, with keys of the caller's own resources, of another tenant's, and of missing ones.
 * @param n - a different number for each call.
 */
export type RequestFactory = (key: (message: string) => string, n: number) => object

/** A request that contains keys of resources. */
export interface NamingRequest {
  readonly method: ServedMethod
  /** The resources that it names, in the order in which the factory requests them. */
  readonly named: readonly Subject[]
  readonly make: (keys: readonly string[]) => Message
}

export const namingRequest = (
  method: ServedMethod,
  factory: RequestFactory,
  subjects: readonly Subject[],
): NamingRequest => {
  const { desc, path } = method
  const named: Subject[] = []
  const make = (keys: readonly string[]): Message => {
    let index = 0
    const made = factory((message) => {
      named[index] ??= subjectOf(subjects, message, path)
      return keys[index++] ?? ''
    }, nextNumber())
    return create(desc.input, withKeys(desc.input, made as Record<string, unknown>))
  }
  make([])
  return { method, named, make }
}

/** Returns the values of a message with keys converted to integers for integer fields. */
const withKeys = (
  { fields }: DescMessage,
  made: Readonly<Record<string, unknown>>,
): Record<string, unknown> => {
  if ('$typeName' in made) return made
  const init: Record<string, unknown> = { ...made }
  for (const field of fields) {
    const value = made[field.localName]
    const held = (one: unknown): unknown =>
      typeof one === 'string' && field.scalar !== undefined ? (heldKey(field, one) ?? one) : one
    if (field.fieldKind === 'message' && typeof value === 'object' && value !== null)
      init[field.localName] = withKeys(field.message, value as Record<string, unknown>)
    else if (field.fieldKind === 'list' && Array.isArray(value)) init[field.localName] = value.map(held)
    else if (field.fieldKind === 'scalar' && field.localName in made) init[field.localName] = held(value)
  }
  return init
}

/**
 * Returns one row of a tenant for each resource that the request names, or a string with the reason why one
 * cannot be created.
 */
export const rowsFor = async (
  world: World,
  { method, named }: NamingRequest,
  side: Side,
): Promise<readonly Row[] | string> => {
  const rows: Row[] = []
  for (const subject of named) {
    const row = await makeRow(world, subject, side)
    if (typeof row === 'string') return row
    rows.push(row)
  }
  const keys = rows.map(({ key }) => key)
  await world.prepare(method.path, side, keys)
  return rows
}

/** Returns the keys of the rows, with the key at one position replaced. */
export const keysWith = (rows: readonly Row[], index: number, key: string): readonly string[] =>
  rows.map((row, at) => (at === index ? key : row.key))

/** Returns the keys followed by the last parts of names, because an error may contain either. */
export const withIds = (keys: readonly string[]): readonly string[] => [
  ...keys,
  ...keys.filter((key) => key.includes('/')).map((key) => key.slice(key.lastIndexOf('/') + 1)),
]

/** The codes of a call that reached its own resources: it succeeded, or failed because of their state. */
export const REACHED: ReadonlySet<number> = new Set([CODES.OK, CODES.FAILED_PRECONDITION])

const subjectOf = (subjects: readonly Subject[], message: string, path: string): Subject => {
  const subject = subjects.find((one) => one.message.typeName === message)
  if (subject !== undefined) return subject
  const known = subjects.map((one) => one.message.typeName).join(', ')
  throw new TypeError(`requests: ${path} asks for a key of ${message}, but the server has ${known}`)
}
