import { expect } from 'chai'
import type { AshlarError } from '../../lib/errors.js'
import { UnfinishedBytes } from '../../lib/bounds/unfinished-bytes.js'
import { HeldRequest, UnauthenticatedBytes } from '../../lib/bounds/unauthenticated-bytes.js'

describe('the bytes of requests that are not let in', () => {
  let refused: string[]
  let all: UnauthenticatedBytes
  beforeEach(() => {
    refused = []
    all = new UnauthenticatedBytes(100)
  })

  class Request extends HeldRequest {
    bytes = 0

    constructor(
      readonly name: string,
      address: string,
    ) {
      super(all, address)
    }

    count(): void {
      all.hold(this, this.bytes)
    }

    refuse({ code }: AshlarError): void {
      refused.push(`${this.name} ${code}`)
    }
  }
  const holding = (name: string, bytes: number, address = '10.0.0.1'): HeldRequest => {
    const made = new Request(name, address)
    all.hold(made, bytes)
    return made
  }

  it('may be as many as the limit', () => {
    holding('a', 60)
    holding('b', 40)
    expect([refused, all.held]).to.deep.equal([[], 100])
  })

  it('are taken from the request that has held some for longest, and new ones are served', () => {
    const a = holding('a', 10)
    const b = holding('b', 10)
    all.hold(a, 90)
    holding('c', 10)
    expect([refused, all.held, a.held, b.held]).to.deep.equal([['a RESOURCE_EXHAUSTED'], 20, 0, 10])
    all.hold(a, 50)
    expect(all.held).to.equal(20)
  })

  it('are taken from as many requests as it needs', () => {
    for (const name of ['a', 'b', 'c']) holding(name, 30)
    holding('d', 70)
    expect([refused.length, all.held]).to.deep.equal([2, 100])
  })

  it('of one request that holds more than all may are refused', () => {
    holding('a', 101)
    expect([refused, all.held]).to.deep.equal([['a RESOURCE_EXHAUSTED'], 0])
  })

  it('no longer count when their call is let in, or over, and never again', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => holding(name, 30)) as [
      HeldRequest,
      HeldRequest,
      HeldRequest,
    ]
    for (const each of [b, b, a, c]) all.authenticated(each)
    expect(all.held).to.equal(0)
    all.hold(b, 1_000)
    holding('d', 100)
    expect([refused, all.held]).to.deep.equal([[], 100])
  })

  it('may go down to nothing and come back, and then count as the newest', () => {
    const a = holding('a', 40)
    holding('b', 40)
    all.hold(a, 0)
    all.hold(a, 40)
    holding('c', 30)
    expect(refused).to.deep.equal(['b RESOURCE_EXHAUSTED'])
  })

  it('of any number of requests are given up at once', () => {
    all = new UnauthenticatedBytes(20_000)
    for (let n = 0; n < 20_000; n++) holding(String(n), 1)
    holding('large', 20_000)
    expect([refused.length, all.held]).to.deep.equal([20_000, 20_000])
  })
  it('are taken from the network that holds most, its oldest request first', () => {
    holding('a friend', 30, '10.0.0.2')
    for (const name of ['a', 'b', 'c']) holding(name, 20, '2001:db8::1')
    holding('d', 20, '2001:db8::ffff:1')
    holding('another friend', 30, '10.0.0.3')
    expect([refused, all.held]).to.deep.equal([['a RESOURCE_EXHAUSTED', 'b RESOURCE_EXHAUSTED'], 100])
  })

  it('are not taken from a request that is decided about, unless it asks for more itself', () => {
    const friend = holding('a friend', 90)
    all.deciding(friend)
    for (let n = 0; n < 3; n++) holding(`stranger ${n}`, 20, '10.0.0.2')
    expect(refused).to.deep.equal([0, 1, 2].map((n) => `stranger ${n} RESOURCE_EXHAUSTED`))
    all.decided(friend)
    holding('stranger', 20, '10.0.0.2')
    expect(refused.at(-1)).to.equal('a friend RESOURCE_EXHAUSTED')
    const growing = holding('growing', 10)
    all.deciding(growing)
    all.hold(growing, 101)
    expect([refused.at(-2), refused.at(-1), all.held]).to.deep.equal([
      'stranger RESOURCE_EXHAUSTED',
      'growing RESOURCE_EXHAUSTED',
      0,
    ])
  })

  it('of a request that is decided about are given back as those of any other', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => holding(name, 30)) as [
      HeldRequest,
      HeldRequest,
      HeldRequest,
    ]
    for (const each of [b, a, c, a]) all.deciding(each)
    all.authenticated(b)
    for (const each of [a, b, c]) all.decided(each)
    expect(all.held).to.equal(60)
    holding('d', 70)
    expect(refused).to.deep.equal(['a RESOURCE_EXHAUSTED'])
    for (const each of [c, a]) all.authenticated(each)
    expect(all.held).to.equal(70)
  })

  it('of a small request count when its turn is over and it is not authenticated', async () => {
    const soon = (name: string) => {
      const made = new Request(name, '10.0.0.1')
      made.bytes = 40
      all.holdSoon(made)
      all.holdSoon(made)
      return made
    }
    const [done] = [soon('done'), soon('a'), soon('b'), soon('c')]
    all.authenticated(done)
    expect(all.held).to.equal(0)
    await new Promise(setImmediate)
    expect([refused, all.held]).to.deep.equal([['a RESOURCE_EXHAUSTED'], 80])
    soon('d')
    await new Promise(setImmediate)
    expect([refused.at(-1), all.held]).to.deep.equal(['b RESOURCE_EXHAUSTED', 80])
  })

  it('of a request that is not complete count for its tenant, also in the turn in which it came', () => {
    const owned: number[] = []
    all = new UnauthenticatedBytes(100, undefined, new UnfinishedBytes(50, () => owned.push(1)))
    const made = new Request('a', '10.0.0.1')
    made.bytes = 60
    all.holdSoon(made)
    all.authenticated(made, 'acme')
    expect([refused, owned.length]).to.deep.equal([['a RESOURCE_EXHAUSTED'], 1])
  })
})
