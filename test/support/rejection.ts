import { AssertionError, expect } from 'chai'
import { inspect } from 'node:util'

/**
 * Asserts that a promise rejects with the given class of error, and returns the error.
 * @throws {AssertionError} if the promise resolves or rejects with another error.
 */
export async function rejection<E extends Error>(
  promise: Promise<unknown>,
  type: abstract new (...values: never[]) => E,
  message?: string | RegExp,
): Promise<E> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('value' in outcome)
    throw new AssertionError(`expected a ${type.name}, but it resolved with ${shown(outcome.value)}`)
  const { error } = outcome
  expect(error).to.be.instanceOf(type)
  if (message !== undefined) expect((error as E).message).to.match(new RegExp(message))
  return error as E
}

/** Formats a value for a message. It does not use JSON, because a value may be a bigint or circular. */
const shown = (value: unknown): string => inspect(value, { depth: 2, breakLength: Infinity }).slice(0, 500)
