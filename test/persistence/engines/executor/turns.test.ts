import { mock } from 'node:test'
import { expect } from 'chai'
import { Unavailable } from '../../../../lib/errors.js'
import { Turns } from '../../../../lib/persistence/engines/executor/turns.js'
import { rejection } from '../../../support/rejection.js'

const LIMIT_MS = 1000

describe('turns on a connection', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'] }))
  afterEach(() => mock.timers.reset())

  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 10) mock.timers.tick(10)
  }
  /** The caller's turn, or why it got none. */
  const outcomeOf = (turns: Turns, isAlone = true) => {
    const caller = { outcome: 'waits' }
    Promise.resolve(turns.enter(isAlone)).then(
      () => (caller.outcome = 'has its turn'),
      (error: unknown) => (caller.outcome = error instanceof Unavailable ? 'refused' : String(error)),
    )
    return caller
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve))

  it('are waited for as long as others end theirs, however many come before', async () => {
    const turns = new Turns(LIMIT_MS, 2)
    const callers = Array.from({ length: 10 }, (_, at) => outcomeOf(turns, at % 3 > 0))
    for (const at of callers.keys()) {
      pass(LIMIT_MS - 10)
      await settled()
      expect(callers[at]?.outcome).to.equal('has its turn')
      turns.leave()
    }
  })

  it('are refused where none has ended for the whole time', async () => {
    const turns = new Turns(LIMIT_MS, 2)
    expect(turns.enter(true)).to.equal(undefined)
    const waiting = [outcomeOf(turns), outcomeOf(turns, false)]
    pass(LIMIT_MS / 2)
    const late = outcomeOf(turns)
    // A quarter at most is not counted.
    pass(LIMIT_MS * 0.75)
    await settled()
    expect([...waiting, late].map(({ outcome }) => outcome)).to.deep.equal(['refused', 'refused', 'waits'])
    turns.leave()
    await settled()
    expect(late.outcome).to.equal('has its turn')
    const last = rejection(turns.enter(true) as Promise<void>, Unavailable)
    pass(2 * LIMIT_MS)
    await last
  })

  it('are not refused because the process stood still', async () => {
    const turns = new Turns(LIMIT_MS, 2)
    expect(turns.enter(true)).to.equal(undefined)
    const waiting = outcomeOf(turns)
    for (let times = 0; times < 3; times++) mock.timers.tick(100 * LIMIT_MS)
    await settled()
    expect(waiting.outcome).to.equal('waits')
    turns.leave()
    await settled()
    expect(waiting.outcome).to.equal('has its turn')
  })
})
