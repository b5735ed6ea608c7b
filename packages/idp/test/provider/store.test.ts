import { expect } from 'chai'
import { Store } from '../../lib/state/store.js'

describe('the store', () => {
  let now = 1_000
  const storeOf = (entries: number, characters = 1_000) => {
    now = 1_000
    return new Store(
      () => now,
      () => {},
      { Thing: { entries, characters } },
    )
  }

  it('forgets the oldest beyond the number of entries, and beyond their size', () => {
    const few = storeOf(2)
    for (const id of ['a', 'b', 'c']) few.set('Thing', id, { id }, 2_000)
    expect(['a', 'b', 'c'].map((id) => few.get('Thing', id) !== undefined)).to.deep.equal([false, true, true])
    const small = storeOf(100, 60)
    small.set('Thing', 'a', { text: 'x'.repeat(30) }, 2_000)
    small.set('Thing', 'b', { text: 'x'.repeat(30) }, 2_000)
    expect([small.get('Thing', 'a') !== undefined, small.get('Thing', 'b') !== undefined]).to.deep.equal([
      false,
      true,
    ])
  })

  it('forgets what has expired', () => {
    const store = storeOf(10)
    store.set('Thing', 'a', { uid: 'u' }, 1_001)
    expect(store.byAlias('Thing', 'u')).to.deep.equal({ uid: 'u' })
    now = 1_001
    expect(store.byAlias('Thing', 'u')).to.equal(undefined)
    expect(store.sizeOf('Thing')).to.equal(0)
  })

  it('writes what lasts, and reads it again', () => {
    const store = storeOf(10)
    store.set('Session', '__proto__', { uid: 'u', accountId: 'a' }, 2_000)
    store.set('Interaction', 'i', {}, 2_000)
    const other = storeOf(10)
    other.fromText(store.toText())
    expect(other.byAlias('Session', 'u')).to.deep.equal({ uid: 'u', accountId: 'a' })
    expect(other.sizeOf('Interaction')).to.equal(0)
    expect(() => other.fromText('{"Session":[')).to.throw(SyntaxError)
  })

  it('an entry does not change from outside', () => {
    const store = storeOf(10)
    const payload = { list: ['a'] }
    store.set('Thing', 'a', payload, 2_000)
    payload.list.push('b')
    ;(store.get('Thing', 'a') as typeof payload).list.push('c')
    expect(store.get('Thing', 'a')).to.deep.equal({ list: ['a'] })
  })
})
