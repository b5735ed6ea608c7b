import type { Message } from '@bufbuild/protobuf'
import { type AshlarError, ErrConflict, ErrNotFound, ErrPreconditionFailed } from '../../errors.js'

/** The subject of a request, as errors name it. */
export interface RequestSubject {
  /** Names the resource, by its message and what the caller sent. */
  readonly nameOf: (request: Message) => string
  /** The key fields that a create sends, by proto name; empty if the request creates nothing. */
  readonly keys: readonly string[]
}

/** Names what a request is about in an error. */
export type Named = <E>(error: E, request: Message) => E

/**
 * Names the resource of a request in errors of its repository that have no text of their own; undefined for a
 * method that is about none.
 */
export const namedErrors = (subject: RequestSubject | undefined): Named | undefined =>
  subject &&
  ((error, request) => {
    const said = GENERIC.find(({ type, text }) => error instanceof type && error.wireMessage === text)
    return said === undefined ? error : copyOf(error, said.of(subject.nameOf(request), error, subject.keys))
  })

type Said = (name: string, error: unknown, keys: readonly string[]) => string

/** True if the fields of a conflict are the fields of a key. */
export const isKeyTaken = ({ fields, excludesKey }: ErrConflict, keys: readonly string[]): boolean =>
  !excludesKey && keys.length > 0 && fields.every((field) => keys.includes(field))

const taken: Said = (name, error, keys) => {
  const { fields, isDeleted } = error as ErrConflict
  if (isKeyTaken(error as ErrConflict, keys))
    return `${name} already exists${isDeleted ? ', and is deleted' : ''}`
  if (fields.length === 0) return `${name}: a value is already in use`
  return `${name}: ${fields.join(' and ')} ${fields.length > 1 ? 'are' : 'is'} already taken`
}

/** The public messages of repository errors once the subject of the request is known. */
const GENERIC = (
  [
    [ErrNotFound, (name: string) => `${name} not found`],
    [ErrConflict, taken],
    [ErrPreconditionFailed, (name: string) => `${name}: precondition failed`],
  ] as const satisfies readonly (readonly [new () => AshlarError, Said])[]
).map(([type, of]) => ({ type, of: of as Said, text: new type().wireMessage }))

/** Others may wait for the same error, so that it stays as it is. */
const copyOf = <E>(error: E, wireMessage: string): E => {
  const copy = new Error((error as Error).message)
  Object.setPrototypeOf(copy, Object.getPrototypeOf(error) as object)
  return Object.defineProperties(copy, {
    ...Object.getOwnPropertyDescriptors(error),
    wireMessage: { value: wireMessage, enumerable: true },
  }) as E & Error
}
