import { AssertionError, expect } from 'chai'
import { inspect } from 'node:util'

/**
 * Asserts that a promise rejects with this class of error, and returns the error.
 * @throws {AssertionError} when it resolves, whichever class was expected.
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

/** Not JSON: a value may be a bigint or refer to itself. */
const shown = (value: unknown): string => inspect(value, { depth: 2, breakLength: Infinity }).slice(0, 500)
