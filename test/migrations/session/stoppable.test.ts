import { expect } from 'chai'
import { SessionError } from '../../../lib/migrations/session/session-error.js'
import { stoppable } from '../../../lib/migrations/session/stoppable.js'
import { failureOf } from '../each-engine.js'

describe('stoppable', () => {
  const stopped = ['57014', '1317', '1969']
  const absorb = () => Promise.resolve()
  const mayEndQuietly = false
  const unbounded = { timeoutMs: 0, signal: undefined }
  /** A statement that ends as soon as it is stopped. */
  const endless = () => {
    let end: (error: Error) => void = () => undefined
    const work = () => new Promise<void>((_, reject) => (end = reject))
    return { work, end: (code: string) => end(new SessionError('stopped', code, 'failed')) }
  }

  it('returns what the statement returns, and absorbs nothing', async () => {
    const refuse = () => Promise.reject(new Error('not asked'))
    expect(
      await stoppable(() => Promise.resolve(7), unbounded, {
        stopped,
        stop: refuse,
        absorb: refuse,
        mayEndQuietly,
      }),
    ).to.equal(7)
  })

  for (const code of ['57014', '1317', '1969'])
    it(`takes ${code} for cancelled when the caller gave up`, async () => {
      const ending = new AbortController()
      const { work, end } = endless()
      const stop = () => Promise.resolve(end(code))
      const failure = failureOf(
        stoppable(work, { timeoutMs: 0, signal: ending.signal }, { stopped, stop, absorb, mayEndQuietly }),
      )
      ending.abort()
      expect(await failure).to.include({ code, failure: 'cancelled' })
    })

  it('takes the same for a failure when nobody gave up', async () => {
    const { work, end } = endless()
    const failure = failureOf(stoppable(work, unbounded, { stopped, stop: absorb, absorb, mayEndQuietly }))
    end('57014')
    expect(await failure).to.include({ code: '57014', failure: 'failed' })
  })

  it('keeps the error of a statement that failed by itself while the caller gave up', async () => {
    const ending = new AbortController()
    const { work, end } = endless()
    const stop = () => Promise.resolve(end('42601'))
    const failure = failureOf(
      stoppable(work, { timeoutMs: 0, signal: ending.signal }, { stopped, stop, absorb, mayEndQuietly }),
    )
    ending.abort()
    expect(await failure).to.include({ code: '42601', failure: 'failed' })
  })

  for (const [what, quietly, outcome] of [
    [
      'takes a statement that returns all the same for cancelled, where it may have been cut off',
      true,
      'cancelled',
    ],
    ['takes a statement that returns all the same for done, where it fails when it is cut off', false, 7],
  ] as const)
    it(what, async () => {
      const ending = new AbortController()
      let end: (value: number) => void = () => undefined
      const work = () => new Promise<number>((resolve) => (end = resolve))
      const stop = () => Promise.resolve(end(7))
      const bounds = { timeoutMs: 0, signal: ending.signal }
      const result = stoppable(work, bounds, { stopped, stop, absorb, mayEndQuietly: quietly })
      ending.abort()
      expect(
        await result.catch((error: unknown) => (error instanceof SessionError ? error.failure : error)),
      ).to.equal(outcome)
    })

  it('sends nothing for a caller who has given up already', async () => {
    const work = () => Promise.reject(new Error('it was sent'))
    const bounds = { timeoutMs: 0, signal: AbortSignal.abort() }
    expect(
      await failureOf(stoppable(work, bounds, { stopped, stop: absorb, absorb, mayEndQuietly })),
    ).to.include({
      failure: 'cancelled',
    })
  })

  it('tells the way to stop that the statement has ended, so that it waits for nothing else', async () => {
    const ending = new AbortController()
    const { work, end } = endless()
    const stop = (ended: AbortSignal) => {
      end('57014')
      return new Promise<void>((resolve) => ended.addEventListener('abort', () => resolve()))
    }
    const failure = failureOf(
      stoppable(work, { timeoutMs: 0, signal: ending.signal }, { stopped, stop, absorb, mayEndQuietly }),
    )
    ending.abort()
    expect(await failure).to.have.property('failure', 'cancelled')
  })

  it('absorbs a request that comes too late before anything else is sent', async () => {
    const order: string[] = []
    const ending = new AbortController()
    const { work, end } = endless()
    const stop = async () => {
      end('57014')
      await new Promise(setImmediate)
      order.push('stopped')
    }
    const absorbed = () => Promise.resolve(order.push('absorbed'))
    const failure = failureOf(
      stoppable(
        work,
        { timeoutMs: 0, signal: ending.signal },
        { stopped, stop, absorb: absorbed, mayEndQuietly },
      ),
    )
    ending.abort()
    await failure
    expect(order).to.deep.equal(['stopped', 'absorbed'])
  })
})
