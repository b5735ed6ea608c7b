import { create, type DescMessage, type Message } from '@bufbuild/protobuf'
import { CODES } from '../../errors.js'
import type { ServedMethod } from '../../server/served-methods.js'
import { heldKey } from './world/requests.js'
import type { Subject } from './world/subjects.js'
import { makeRow, nextNumber, type Row, type Side, type World } from './world/world.js'

/**
 * Makes the request of one method.
 * @param key - the key of a resource, by the full name of its message; its name where it has one, such as
 * `shelves/s1/books/b1`. It is a text, and a field of an integer takes it as well. The check calls the function
 * several times: it gives keys of the caller's own resources, of another tenant's, and of none.
 * @param n - differs each time.
 */
export type RequestFactory = (key: (message: string) => string, n: number) => object

/** A request with the keys of resources in it. */
export interface NamingRequest {
  readonly method: ServedMethod
  /** The resources that it names, in the order in which they are requested. */
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

/** The values of a message, with integers in the place of texts of them. */
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

/** One resource of a tenant for each that the request names; a text says why one cannot be made. */
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

/** The keys of the rows, with another one at a place. */
export const keysWith = (rows: readonly Row[], index: number, key: string): readonly string[] =>
  rows.map((row, at) => (at === index ? key : row.key))

/** Keys, and then the last parts of those that are names: an error may say either. */
export const withIds = (keys: readonly string[]): readonly string[] => [
  ...keys,
  ...keys.filter((key) => key.includes('/')).map((key) => key.slice(key.lastIndexOf('/') + 1)),
]

/** With its own resources the call did its work, or refused it for the state that they are in. */
export const REACHED: ReadonlySet<number> = new Set([CODES.OK, CODES.FAILED_PRECONDITION])

const subjectOf = (subjects: readonly Subject[], message: string, path: string): Subject => {
  const subject = subjects.find((one) => one.message.typeName === message)
  if (subject !== undefined) return subject
  const known = subjects.map((one) => one.message.typeName).join(', ')
  throw new TypeError(`requests: ${path} asks for a key of ${message}, but the server has ${known}`)
}
