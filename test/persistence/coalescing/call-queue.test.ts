import { expect } from 'chai'
import { CallQueue, type QueueClock, type Slot } from '../../../lib/persistence/coalescing/call-queue.js'
import type { WaitingCall } from '../../../lib/persistence/coalescing/waiting-calls.js'

const CONNECTIONS = 3

interface Call extends WaitingCall {
  readonly name: string
}

const call = (name: string, group = '', bytes = 10, row?: string): Call => ({ name, group, bytes, row })

/** A queue whose statements and whose clock a test moves by hand. */
class Bench {
  readonly sent: string[][] = []
  readonly queue: CallQueue<Call>
  readonly #ends: ((succeeded: boolean) => void)[] = []
  readonly #timers: { readonly at: number; readonly fn: () => void }[] = []
  #now = 1000

  constructor(connections = CONNECTIONS) {
    const clock: QueueClock = {
      now: () => this.#now,
      after: (ms, fn) => void this.#timers.push({ at: this.#now + ms, fn }),
      soon: setImmediate,
    }
    this.queue = new CallQueue(
      () => connections,
      (calls) => {
        this.sent.push(calls.map(({ name }) => name))
        return new Promise((resolve) => this.#ends.push(resolve))
      },
      clock,
    )
  }

  pass(ms: number): void {
    this.#now += ms
    for (const due of this.#timers.filter(({ at }) => at <= this.#now)) {
      this.#timers.splice(this.#timers.indexOf(due), 1)
      due.fn()
    }
  }

  /** The oldest merged statement ends. */
  async end(succeeded = true): Promise<void> {
    this.#ends.shift()?.(succeeded)
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  }

  /** As many lone calls as get a slot. */
  fill(): Slot[] {
    const slots: Slot[] = []
    for (let slot = this.queue.enter(); slot !== undefined; slot = this.queue.enter()) slots.push(slot)
    return slots
  }

  /** A lone statement ends, of a database that is not near. */
  leave(slot: Slot | undefined): void {
    this.pass(1)
    this.queue.leave(slot as Slot, 1)
  }

  wait(...calls: readonly Call[]): void {
    for (const each of calls) this.queue.wait(each)
  }

  /** Lone statements that take so long, one after the other. */
  measure(ms: number, times: number): void {
    for (let i = 0; i < times; i++) {
      const slot = this.queue.enter() as Slot
      this.pass(ms)
      this.queue.leave(slot, 1)
    }
  }
}

const names = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i))

describe('CallQueue', () => {
  it('has a slot for as many statements as the pool has connections', () => {
    expect(new Bench().fill()).to.have.length(CONNECTIONS)
  })

  it('sends what waits when a slot is free, together and in the order it came', () => {
    const bench = new Bench()
    const [first] = bench.fill()
    bench.wait(call('a'), call('b'), call('c'))
    expect(bench.sent).to.deep.equal([])
    bench.leave(first)
    expect(bench.sent).to.deep.equal([['a', 'b', 'c']])
  })

  it('counts a statement of several calls as one', async () => {
    const bench = new Bench(1)
    const [first] = bench.fill()
    bench.wait(call('a'), call('b'))
    bench.leave(first)
    bench.wait(call('c'))
    expect(bench.queue.enter(), 'a slot').to.equal(undefined)
    expect(bench.sent).to.deep.equal([['a', 'b']])
    await bench.end()
    expect(bench.sent).to.deep.equal([['a', 'b'], ['c']])
  })

  it('gives no slot to a call while others wait', () => {
    const bench = new Bench()
    bench.fill()
    bench.wait(call('a'))
    expect(bench.queue.enter()).to.equal(undefined)
  })

  it('serves tenants with waiting calls in turns', async () => {
    const bench = new Bench(1)
    const [first] = bench.fill()
    const of = (tenant: string, name: string, bytes = 10) => ({ ...call(name, '', bytes), tenant })
    bench.wait(...names(1, 300).map((name) => of('a', name)))
    bench.wait(of('b', 'b1'), of('c', 'c1'), of('b', 'b2'), of('d', 'd1', 2 ** 18))
    bench.leave(first)
    await bench.end()
    for (let more = 0; more < 3; more++) await bench.end()
    expect(bench.sent.map(({ length }) => length)).to.deep.equal([3, 1, 128, 128, 44])
    expect(bench.sent.slice(0, 2)).to.deep.equal([['1', 'b1', 'c1'], ['d1']])
    expect(bench.sent[2]?.slice(0, 4)).to.deep.equal(['2', 'b2', '3', '4'])
  })

  it('keeps calls for one row in order if tenants take turns', async () => {
    const bench = new Bench(1)
    const [first] = bench.fill()
    const of = (tenant: string, name: string) => ({ ...call(name, '', 10, 'row'), tenant })
    bench.wait(of('a', 'a1'), of('b', 'b1'), of('a', 'a2'))
    bench.leave(first)
    await bench.end()
    await bench.end()
    expect(bench.sent).to.deep.equal([['a1'], ['b1'], ['a2']])
  })

  it('puts at most 128 calls into a statement', async () => {
    const bench = new Bench(1)
    const [first] = bench.fill()
    bench.wait(...names(1, 300).map((name) => call(name)))
    bench.leave(first)
    await bench.end()
    await bench.end()
    expect(bench.sent).to.deep.equal([names(1, 128), names(129, 256), names(257, 300)])
  })

  it('puts at most 256 KiB into a statement, and a larger call into one of its own', async () => {
    const bench = new Bench(1)
    const [first] = bench.fill()
    const half = 128 * 1024
    bench.wait(call('a', '', half), call('b', '', half), call('c', '', 1), call('d', '', 4 * half), call('e'))
    bench.leave(first)
    for (let i = 0; i < 4; i++) await bench.end()
    expect(bench.sent).to.deep.equal([['a', 'b'], ['c'], ['d'], ['e']])
  })

  it('never mixes groups, and serves each in turn', async () => {
    const bench = new Bench(1)
    const [first] = bench.fill()
    bench.wait(...names(1, 200).map((name) => call(name, 'acme')), call('g', 'globex'))
    bench.leave(first)
    await bench.end()
    await bench.end()
    expect(bench.sent).to.deep.equal([names(1, 128), ['g'], names(129, 200)])
  })

  it('puts calls for one row into one statement after another, and others not behind them', async () => {
    const bench = new Bench(1)
    const [slot] = bench.fill()
    const [gone, last] = [call('gone', '', 10, 'r'), call('last', '', 10, 'r')]
    bench.wait(call('a', '', 10, 'r'), call('b', '', 10, 'r'), gone, last, call('c', '', 10, 's'), call('d'))
    bench.queue.remove(gone)
    bench.leave(slot)
    bench.wait(call('e'))
    for (let i = 0; i < 3; i++) await bench.end()
    expect(bench.sent).to.deep.equal([['a', 'c', 'd'], ['b', 'e'], ['last']])
  })

  it('lets the next call for a row come when the first is removed', async () => {
    const bench = new Bench(1)
    const [slot] = bench.fill()
    const gone = call('gone', 'acme', 10, 'r')
    bench.wait(gone, call('next', 'acme', 10, 'r'))
    bench.queue.remove(gone)
    bench.leave(slot)
    await bench.end()
    expect(bench.sent).to.deep.equal([['next']])
  })

  it('has 100,000 calls for one row keep nobody waiting', async () => {
    const bench = new Bench(1)
    const [slot] = bench.fill()
    bench.wait(...names(1, 50_000).map((name) => call(name, '', 10, 'r')))
    bench.wait(...names(1, 50_000).map((name) => call(name, '', 10, 's')), call('other'))
    bench.leave(slot)
    expect(bench.sent).to.deep.equal([['1', '1', 'other']])
    await bench.end()
    expect(bench.sent[1]).to.deep.equal(['2', '2'])
  })

  it('forgets a call that is removed', () => {
    const bench = new Bench(1)
    const [first] = bench.fill()
    const [gone, stays] = [call('gone', 'globex'), call('stays')]
    bench.wait(gone, stays)
    bench.queue.remove(gone)
    bench.leave(first)
    expect(bench.sent).to.deep.equal([['stays']])
  })

  it('does not count a statement that has been in flight for 20 ms', () => {
    const bench = new Bench()
    bench.fill()
    bench.pass(19)
    expect(bench.queue.enter(), 'before').to.equal(undefined)
    bench.pass(1)
    expect(bench.fill(), 'then').to.have.length(CONNECTIONS)
  })

  it('sends what waits behind slow statements after 20 ms, whether or not another call comes', () => {
    const bench = new Bench()
    bench.fill()
    bench.pass(5)
    bench.wait(call('a'), call('b'))
    bench.pass(14)
    expect(bench.sent).to.deep.equal([])
    bench.pass(1)
    expect(bench.sent).to.deep.equal([['a', 'b']])
  })

  it('takes back the slot of a slow statement only once', () => {
    const bench = new Bench()
    const slow = bench.fill()
    bench.pass(20)
    bench.fill()
    for (const slot of slow) bench.queue.leave(slot, 1)
    expect(bench.queue.enter()).to.equal(undefined)
  })

  it('is usable after a statement that failed', async () => {
    const bench = new Bench(1)
    const [first] = bench.fill()
    bench.wait(call('a'))
    bench.queue.leave(first as Slot, undefined)
    bench.wait(call('b'))
    await bench.end(false)
    expect(bench.sent).to.deep.equal([['a'], ['b']])
  })

  describe('a call that finds no other', () => {
    it('passes, and the next one when it has landed', () => {
      const { queue } = new Bench()
      expect(queue.passes()).to.equal(true)
      expect(queue.passes(), 'while it is in flight').to.equal(false)
      queue.completed()
      expect(queue.passes(), 'when it has landed').to.equal(true)
    })

    it('counts as in flight for those that come after it', () => {
      const bench = new Bench()
      bench.queue.passes()
      const [slot] = bench.fill()
      bench.wait(call('a'), call('b'))
      expect(bench.sent).to.deep.equal([])
      bench.queue.completed()
      expect(bench.sent).to.deep.equal([['a', 'b']])
      bench.leave(slot)
      expect(bench.fill()).to.have.length(1)
    })

    it('leaves room for all when it lands before another comes', () => {
      const bench = new Bench()
      bench.queue.passes()
      bench.queue.completed()
      expect(bench.fill()).to.have.length(CONNECTIONS)
    })

    it('keeps nobody waiting for longer than 20 ms, and lands once', () => {
      const bench = new Bench(1)
      bench.queue.passes()
      bench.wait(call('a'))
      bench.pass(19)
      expect(bench.sent).to.deep.equal([])
      bench.pass(1)
      expect(bench.sent).to.deep.equal([['a']])
      bench.wait(call('b'))
      bench.queue.completed()
      expect(bench.sent, 'behind the other').to.deep.equal([['a']])
    })

    it('does not pass those that wait, nor a statement in flight', async () => {
      const bench = new Bench(1)
      const [slot] = bench.fill()
      expect(bench.queue.passes(), 'beside one').to.equal(false)
      bench.wait(call('a'))
      bench.leave(slot)
      expect(bench.queue.passes(), 'beside one of several').to.equal(false)
      await bench.end()
      expect(bench.queue.passes(), 'then').to.equal(true)
    })
  })

  describe('with ten connections', () => {
    const limits: readonly (readonly [roundTripMs: number, slots: number])[] = [
      [0.1, 3],
      [0.3, 4],
      [0.5, 10],
      [2, 10],
    ]
    for (const [ms, slots] of limits)
      it(`has ${slots} slots while a round trip takes ${ms} ms`, () => {
        const bench = new Bench(10)
        bench.measure(ms, 3)
        expect(bench.fill()).to.have.length(slots)
      })

    it('goes by the fastest of the last statements, so that one slow statement changes nothing', () => {
      const bench = new Bench(10)
      bench.measure(0.1, 1)
      bench.measure(8, 100)
      expect(bench.fill()).to.have.length(3)
    })

    it('notices that the database has moved away', () => {
      const bench = new Bench(10)
      bench.measure(0.1, 10)
      bench.measure(2, 256)
      expect(bench.fill()).to.have.length(10)
    })

    it('learns nothing from a statement that failed', () => {
      const bench = new Bench(10)
      const slot = bench.queue.enter() as Slot
      bench.queue.leave(slot, undefined)
      expect(bench.fill()).to.have.length(10)
    })

    it('sends nothing beside a statement of three calls while a round trip takes 0.1 ms', async () => {
      const bench = new Bench(10)
      bench.measure(0.1, 3)
      const slots = bench.fill()
      bench.wait(call('a'), call('b'), call('c'))
      for (const slot of slots) bench.queue.leave(slot, 1)
      bench.wait(call('d'))
      expect(bench.sent).to.deep.equal([['a', 'b', 'c']])
      await bench.end()
      expect(bench.sent).to.deep.equal([['a', 'b', 'c'], ['d']])
    })

    it('has fewer slots on a smaller pool', () => {
      const bench = new Bench(1)
      bench.measure(0.1, 3)
      expect(bench.fill()).to.have.length(1)
    })
  })
})
