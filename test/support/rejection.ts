import { expect } from 'chai'

/** Asserts that a promise rejects with this class of error, and answers the error. */
export async function rejection<E extends Error>(
  promise: Promise<unknown>,
  type: abstract new (...values: never[]) => E,
  message?: string | RegExp,
): Promise<E> {
  const outcome: unknown = await promise.then(
    (answer) => new TypeError(`did not reject, but answered ${JSON.stringify(answer)}`),
    (error: unknown) => error,
  )
  expect(outcome).to.be.instanceOf(type)
  if (message !== undefined) expect((outcome as E).message).to.match(new RegExp(message))
  return outcome as E
}
