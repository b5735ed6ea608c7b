import { expect } from 'chai'
import { BoundedCache } from '../lib/bounded-cache.js'

describe('BoundedCache', () => {
  it('keeps what was used last', () => {
    const cache = new BoundedCache<string, number>(2, 'tests')
    cache.set('a', 1)
    cache.set('b', 2)
    expect(cache.get('a')).to.equal(1)
    cache.set('c', 3)
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).to.deep.equal([1, undefined, 3])
  })

  it('replaces without growing', () => {
    const cache = new BoundedCache<string, number>(2, 'tests')
    for (const value of [1, 2, 3]) cache.set('a', value)
    expect([cache.size, cache.get('a')]).to.deep.equal([1, 3])
  })

  it('makes a missing value once', () => {
    const cache = new BoundedCache<string, string>(2, 'tests')
    let made = 0
    const make = (key: string) => `${key}${++made}`
    expect([cache.getOrSet('a', make), cache.getOrSet('a', make)]).to.deep.equal(['a1', 'a1'])
  })

  it('is not larger after a million keys than after its capacity', () => {
    const cache = new BoundedCache<string, number>(100, 'tests')
    for (let i = 0; i < 1_000_000; i++) cache.set(`filter ${i}`, i)
    expect(cache.size).to.equal(100)
  })

  it('refuses a capacity that holds nothing', () => {
    for (const capacity of [0, -1, 1.5, NaN])
      expect(() => new BoundedCache(capacity, 'tests')).to.throw(RangeError)
  })
})
