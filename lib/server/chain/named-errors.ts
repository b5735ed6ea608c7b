import type { Message } from '@bufbuild/protobuf'
import { type AshlarError, ErrConflict, ErrNotFound, ErrPreconditionFailed } from '../../errors.js'

/** The resource that a request is about, for error messages. */
export interface RequestSubject {
  /** Returns the resource's name, built from its message and what the caller sent. */
  readonly nameOf: (request: Message) => string
  /** The key fields that a create request sends, by proto name; empty if the request creates nothing. */
  readonly keys: readonly string[]
}

/** Returns the error with the request's subject in its message. */
export type Named = <E>(error: E, request: Message) => E

/**
 * Returns a function that adds the resource's name to generic repository errors; undefined if the method has
 * no resource.
 */
export const namedErrors = (subject: RequestSubject | undefined): Named | undefined =>
  subject &&
  ((error, request) => {
    const said = GENERIC.find(({ type, text }) => error instanceof type && error.wireMessage === text)
    return said === undefined ? error : copyOf(error, said.of(subject.nameOf(request), error, subject.keys))
  })

type Said = (name: string, error: unknown, keys: readonly string[]) => string

/** Returns true if the fields of a conflict are key fields. */
export const isKeyTaken = ({ fields, excludesKey }: ErrConflict, keys: readonly string[]): boolean =>
  !excludesKey && keys.length > 0 && fields.every((field) => keys.includes(field))

const taken: Said = (name, error, keys) => {
  const { fields, isDeleted } = error as ErrConflict
  if (isKeyTaken(error as ErrConflict, keys))
    return `${name} already exists${isDeleted ? ', and is deleted' : ''}`
  if (fields.length === 0) return `${name}: a value is already in use`
  return `${name}: ${fields.join(' and ')} ${fields.length > 1 ? 'are' : 'is'} already taken`
}

/** Builds public messages for repository errors once the request's subject is known. */
const GENERIC = (
  [
    [ErrNotFound, (name: string) => `${name} not found`],
    [ErrConflict, taken],
    [ErrPreconditionFailed, (name: string) => `${name}: precondition failed`],
  ] as const satisfies readonly (readonly [new () => AshlarError, Said])[]
).map(([type, of]) => ({ type, of: of as Said, text: new type().wireMessage }))

/** Copies the error, because other callers may wait for the same object. */
const copyOf = <E>(error: E, wireMessage: string): E => {
  const copy = new Error((error as Error).message)
  Object.setPrototypeOf(copy, Object.getPrototypeOf(error) as object)
  return Object.defineProperties(copy, {
    ...Object.getOwnPropertyDescriptors(error),
    wireMessage: { value: wireMessage, enumerable: true },
  }) as E & Error
}
