import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallEnd } from '../../../lib/call-end.js'
import { Caller } from '../../../lib/call.js'
import { Unavailable } from '../../../lib/errors.js'
import { cancellation } from '../../../lib/persistence/engines/errors/cancellation.js'
import { Deadline } from '../../../lib/server/chain/deadline.js'

/** How a call ends, and what who works for it is told. */
const ENDS = {
  'its time has passed': ['DEADLINE_EXCEEDED', () => sleep(90)],
  'its caller has left': ['CANCELLED', (_: Deadline, caller: Caller) => caller.leave()],
  'the server ends it': ['UNAVAILABLE', (time: Deadline) => time.end(new Unavailable('the server stops'))],
} as const

describe('the time of a call', () => {
  for (const [title, [code, end]] of Object.entries(ENDS))
    it(`tells the same as its signal when ${title}`, async () => {
      const caller = new Caller()
      const time = new Deadline(Date.now() + 60, caller)
      const heard: string[] = []
      const removed = () => heard.push('removed')
      for (const [name, to] of Object.entries<CallEnd>({ time, signal: time.signal })) {
        expect(to.aborted, name).to.equal(false)
        to.addEventListener('abort', () => heard.push(name), { once: true })
        to.addEventListener('abort', removed)
        to.removeEventListener('abort', removed)
      }
      await end(time, caller)
      expect(heard.sort()).to.deep.equal(['signal', 'time'])
      for (const to of [time, time.signal] as CallEnd[]) {
        expect(to.aborted).to.equal(true)
        expect(cancellation(to).code).to.equal(code)
        to.addEventListener('abort', () => heard.push('late'))
      }
      expect(heard).to.have.length(2)
      time.clear()
    })

  for (const beyond of [2 ** 31 - 1, 2 ** 31, 2 ** 33])
    it(`is not over at once where it has ${beyond} ms, which are more than a timer can wait`, async () => {
      const time = new Deadline(Date.now() + beyond, new Caller())
      const steps = new Deadline(undefined, new Caller(), beyond)
      let ended = false
      time.addEventListener('abort', () => (ended = true))
      expect(await steps.step(sleep(5, 'done'))).to.equal('done')
      expect(await time.step(sleep(5, 'done'))).to.equal('done')
      expect([ended, time.aborted, steps.aborted]).to.deep.equal([false, false, false])
      time.clear()
      steps.clear()
    })

  it('creates no signal for those that listen to it', () => {
    const time = new Deadline(Date.now() + 10_000, new Caller())
    const Signal = globalThis.AbortController
    let created = 0
    globalThis.AbortController = class extends Signal {
      constructor() {
        super()
        created++
      }
    }
    try {
      const listener = () => {}
      time.addEventListener('abort', listener)
      time.removeEventListener('abort', listener)
      expect([time.aborted, created]).to.deep.equal([false, 0])
      expect([time.signal.aborted, created]).to.deep.equal([false, 1])
    } finally {
      globalThis.AbortController = Signal
      time.clear()
    }
  })

  it('calls no listener that an earlier one removes, and all others when the call is cleared meanwhile', () => {
    const time = new Deadline(Date.now() + 10_000, new Caller())
    const heard: string[] = []
    const removed = () => heard.push('removed')
    time.addEventListener('abort', () => {
      time.removeEventListener('abort', removed)
      time.clear()
    })
    time.addEventListener('abort', removed)
    time.addEventListener('abort', () => heard.push('last'))
    time.end(new Unavailable('the server stops'))
    expect(heard).to.deep.equal(['last'])
  })

  it('ends no more when the call is over', async () => {
    const caller = new Caller()
    const time = new Deadline(Date.now() + 250, caller)
    let heard = 0
    for (const to of [time, time.signal] as CallEnd[]) to.addEventListener('abort', () => heard++)
    time.clear()
    await sleep(260)
    caller.leave()
    expect([time.aborted, time.signal.aborted, heard]).to.deep.equal([false, false, 0])
  })
})
