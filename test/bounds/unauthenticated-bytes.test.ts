import { expect } from 'chai'
import type { AshlarError } from '../../lib/errors.js'
import { type HeldRequest, UnauthenticatedBytes } from '../../lib/bounds/unauthenticated-bytes.js'

describe('the bytes of requests that are not let in', () => {
  let refused: string[]
  let all: UnauthenticatedBytes
  beforeEach(() => {
    refused = []
    all = new UnauthenticatedBytes(100)
  })

  const request = (name: string): HeldRequest => ({
    unauthenticated: all,
    isLetIn: false,
    held: 0,
    older: undefined,
    newer: undefined,
    refuse: ({ code }: AshlarError) => void refused.push(`${name} ${code}`),
  })
  const holding = (name: string, bytes: number): HeldRequest => {
    const made = request(name)
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
    for (const each of [b, b, a, c]) all.letIn(each)
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
})
