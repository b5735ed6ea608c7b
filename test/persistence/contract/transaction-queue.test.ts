import { mock } from 'node:test'
import { expect } from 'chai'
import { NESTED_IDLE_MS, TransactionQueue } from '../../../lib/persistence/contract/transaction-queue.js'
import { rejection } from '../../support/rejection.js'

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('TransactionQueue', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => mock.timers.reset())

  it('runs one call after another, and a nested transaction between them', async () => {
    const queue = new TransactionQueue()
    const seen: string[] = []
    await Promise.all([
      queue.run(() => seen.push('a')),
      queue.runNested(async (nested) => {
        await nested.run(() => seen.push('b'))
        await turn()
        await nested.run(() => seen.push('c'))
      }),
      queue.run(() => seen.push('d')),
    ])
    expect(seen).to.deep.equal(['a', 'b', 'c', 'd'])
  })

  it('refuses a call that the nested transaction around it waits for', async () => {
    const queue = new TransactionQueue()
    const seen: string[] = []
    const nested = queue.runNested(async () => {
      await rejection(
        queue.run(() => seen.push('outer')),
        TypeError,
        'in the context of the nested',
      )
      return 'went on'
    })
    await turn()
    mock.timers.tick(NESTED_IDLE_MS)
    expect(await nested).to.equal('went on')
    expect(seen).to.deep.equal([])
    expect(await queue.run(() => 'usable')).to.equal('usable')
  })

  it('refuses one that had come before, and a nested transaction that waits for another', async () => {
    const queue = new TransactionQueue()
    let before: Promise<unknown> = Promise.resolve()
    const nested = queue.runNested(async () => {
      await turn()
      await rejection(before, TypeError)
      await rejection(
        queue.runNested(() => Promise.resolve()),
        TypeError,
      )
    })
    before = queue.run(() => {})
    before.catch(() => {})
    for (let index = 0; index < 3; index++) {
      await turn()
      mock.timers.tick(NESTED_IDLE_MS)
    }
    await nested
  })

  it('waits for a nested transaction that makes calls, however long it takes', async () => {
    const queue = new TransactionQueue()
    let leave: () => void = () => {}
    const left = new Promise<void>((resolve) => (leave = resolve))
    const nested = queue.runNested(async (inner) => {
      await inner.run(() => turn())
      await inner.runNested((innermost) => innermost.run(() => left))
    })
    const after = queue.run(() => 'after')
    for (let index = 0; index < 3; index++) {
      await turn()
      mock.timers.tick(NESTED_IDLE_MS)
    }
    leave()
    await nested
    expect(await after).to.equal('after')
  })
})
