import { expect } from 'chai'
import { InFlight } from '../../../lib/events/following/in-flight.js'

const eventAt = (position: number, key = `k${position}`) => ({
  ...{ position, id: `e${position}`, tenant: 'acme', resource: 'thing', verb: 'told', key },
  ...{ payload: Buffer.alloc(1), seq: 0, epoch: 0 },
})

describe('events in flight', () => {
  const { signal } = new AbortController()
  const nothing = () => Promise.resolve()
  /** Whether another event may begin now. */
  const hasRoom = (inFlight: InFlight) =>
    Promise.race([
      inFlight.room(signal).then(() => true),
      new Promise<false>((resolve) => setImmediate(() => resolve(false))),
    ])

  it('are as many as run, and no more', async () => {
    const inFlight = new InFlight(0, 2)
    let end = () => {}
    const held = new Promise<void>((resolve) => (end = resolve))
    for (const at of [1, 2]) inFlight.begin(eventAt(at), () => held)
    expect(await hasRoom(inFlight)).to.equal(false)
    end()
    await inFlight.idle()
    expect([await hasRoom(inFlight), inFlight.done]).to.deep.equal([true, 2])
  })

  it('that wait for another try, and those behind them, leave room for others', async () => {
    const inFlight = new InFlight(0, 2)
    let end = () => {}
    const pause = new Promise<void>((resolve) => (end = resolve))
    for (const at of [1, 2, 3]) inFlight.begin(eventAt(at, 'bad'), () => inFlight.waiting(() => pause))
    for (let at = 4; at < 10; at++) inFlight.begin(eventAt(at), () => inFlight.waiting(() => pause))
    for (let at = 10; at < 20; at++) {
      expect(await hasRoom(inFlight)).to.equal(true)
      inFlight.begin(eventAt(at), nothing)
    }
    expect(inFlight.done).to.equal(0)
    end()
    await inFlight.idle()
    expect(inFlight.done).to.equal(19)
  })

  it('are at most sixteen times as many as may run, done ones included', async () => {
    const inFlight = new InFlight(0, 2)
    let end = () => {}
    const pause = new Promise<void>((resolve) => (end = resolve))
    inFlight.begin(eventAt(1), () => inFlight.waiting(() => pause))
    for (let at = 2; at <= 32; at++) {
      expect(await hasRoom(inFlight)).to.equal(true)
      inFlight.begin(eventAt(at), nothing)
    }
    expect(await hasRoom(inFlight)).to.equal(false)
    end()
    await inFlight.idle()
    expect([await hasRoom(inFlight), inFlight.done]).to.deep.equal([true, 32])
  })

  it('are read again where they were given up', async () => {
    const inFlight = new InFlight(0, 2)
    inFlight.begin(eventAt(1), () => Promise.reject(new Error('lost')))
    inFlight.begin(eventAt(2), nothing)
    await inFlight.idle()
    expect(inFlight.done).to.equal(0)
  })
})
