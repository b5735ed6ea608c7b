import { AssertionError, expect } from 'chai'
import { rejection } from './rejection.js'

describe('rejection', () => {
  const failureOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    )

  for (const type of [TypeError, Error, RangeError, AssertionError])
    it(`fails when the promise resolves although a ${type.name} is expected`, async () => {
      const failure = await failureOf(rejection(Promise.resolve(12n), type))
      expect(failure).to.be.instanceOf(AssertionError)
      expect(failure).to.have.property('message', `expected a ${type.name}, but it resolved with 12n`)
    })

  it('fails when the promise resolves with an error of the expected class', async () => {
    expect(await failureOf(rejection(Promise.resolve(new TypeError('no')), TypeError))).to.be.instanceOf(
      AssertionError,
    )
  })

  it('fails when the error is of another class or says something else', async () => {
    const work = () => Promise.reject(new TypeError('no'))
    expect(await failureOf(rejection(work(), RangeError))).to.be.instanceOf(AssertionError)
    expect(await failureOf(rejection(work(), TypeError, /yes/))).to.be.instanceOf(AssertionError)
  })

  it('returns the error', async () => {
    const error = new TypeError('no')
    expect(await rejection(Promise.reject(error), TypeError, 'no')).to.equal(error)
  })
})
