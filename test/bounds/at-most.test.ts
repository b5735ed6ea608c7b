import { expect } from 'chai'
import { Cancelled, DeadlineExceeded, Unavailable } from '../../lib/errors.js'
import { atMost } from '../../lib/bounds/at-most.js'
import { rejection } from '../support/rejection.js'

describe('atMost', () => {
  it('runs no more than its limit at a time, in order of arrival', async () => {
    const run = atMost(2)
    const started: number[] = []
    let running = 0
    let most = 0
    const task = (index: number) => async (): Promise<number> => {
      started.push(index)
      most = Math.max(most, ++running)
      for (let turn = 0; turn < 3; turn++) await Promise.resolve()
      running--
      return index
    }
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => run(task(index))))
    expect(results).to.deep.equal(started)
    expect(results).to.deep.equal([...results].sort((a, b) => a - b))
    expect(most).to.equal(2)
  })

  it('gives the turn on after a task that failed', async () => {
    const run = atMost(1)
    const failure = new TypeError('task')
    const failed = run(() => Promise.reject(failure)).catch((error: unknown) => error)
    expect(await run(() => Promise.resolve('next'))).to.equal('next')
    expect(await failed).to.equal(failure)
  })

  it('does not start a task that was given up while it waited', async () => {
    const run = atMost(1)
    const { promise, finish } = pending()
    const first = run(() => promise)
    const controller = new AbortController()
    let isStarted = false
    const second = run(async () => void (isStarted = true), controller.signal).catch(
      (error: unknown) => error,
    )
    const third = run(() => Promise.resolve('third'))
    controller.abort()
    expect(await second).to.be.instanceOf(Cancelled)
    finish()
    await first
    expect(await third).to.equal('third')
    expect(isStarted).to.equal(false)
  })

  it('does not start a task that was given up before', async () => {
    const reason = new DeadlineExceeded()
    const given = atMost(1)(() => Promise.resolve(), AbortSignal.abort(reason))
    expect(await given.catch((error: unknown) => error)).to.equal(reason)
  })

  it('turns away a task that finds too many waiting, and lets in the one that may wait behind more', async () => {
    const run = atMost(1)
    const { promise, finish } = pending()
    const running = run(() => promise)
    const waiting = [1, 2].map((n) => run(() => Promise.resolve(n), undefined, 2))
    let isStarted = false
    const refused = run(async () => void (isStarted = true), undefined, 2)
    const error = await rejection(refused, Unavailable)
    expect(error.wireMessage).to.equal('too many calls wait for this: retry later')
    const patient = run(() => Promise.resolve(3), undefined, 3)
    finish()
    await running
    expect(await Promise.all([...waiting, patient])).to.deep.equal([1, 2, 3])
    expect(isStarted).to.equal(false)
  })

  it('leaves no listener on a signal that outlives the task', async () => {
    const run = atMost(1)
    const { signal } = new AbortController()
    let listeners = 0
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    Object.assign(signal, {
      addEventListener: (...args: Parameters<typeof add>) => (listeners++, add(...args)),
      removeEventListener: (...args: Parameters<typeof remove>) => (listeners--, remove(...args)),
    })
    const { promise, finish } = pending()
    const first = run(() => promise)
    const waiting = [1, 2, 3].map(() => run(() => Promise.resolve(), signal))
    expect(listeners).to.equal(3)
    finish()
    await Promise.all([first, ...waiting])
    expect(listeners).to.equal(0)
  })
})

function pending(): { readonly promise: Promise<void>; readonly finish: () => void } {
  let finish = (): void => undefined
  const promise = new Promise<void>((resolve) => (finish = resolve))
  return { promise, finish }
}
