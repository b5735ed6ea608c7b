import assert from 'node:assert/strict'
import { ErrNotFound, ErrPreconditionFailed } from '../../errors.js'
import { increment } from '../../persistence/index.js'
import { type Case, rejects } from './subject.js'

/** Tests of rows that are read inside a transaction in order to change them. */
export const TRANSACTIONS: readonly Case[] = [
  [
    'rejects a lock outside a transaction, which would end it at once',
    async (on) => {
      await on.store('a')
      await rejects(on.repository.get(on.key('a'), { lock: 'update' }), TypeError)
      await rejects(on.repository.batchGet([on.key('a')], { lock: 'share' }), TypeError)
      await rejects(on.repository.list({}, { lock: 'update', wait: 'skip' }), TypeError)
    },
  ],
  [
    'modify reads, changes and writes, and compares the etag',
    async (on) => {
      const [created] = await on.store('a')
      const modified = await on.repository.modify(on.key('a'), (current) => {
        assert.deepEqual(on.stored(current), on.stored(created))
        return on.patch
      })
      assert.ok(on.isChanged(modified))
      assert.deepEqual(on.stored(await on.repository.get(on.key('a'))), on.stored(modified))
      await rejects(
        on.repository.modify(on.key('a'), () => on.patch, { ifMatch: 'old' }),
        ErrPreconditionFailed,
      )
      await rejects(
        on.repository.modify(on.key('missing'), () => on.patch),
        ErrNotFound,
      )
    },
  ],
  [
    'an increment is added to the stored value, or rejected with a TypeError',
    async (on) => {
      await on.store('a')
      const held = on.stored(await on.repository.get(on.key('a')))
      const field = on.model.entityFields.find(
        (one) =>
          one !== on.model.key && one.writable && ['number', 'bigint'].includes(typeof held[one.property]),
      )
      if (field === undefined) return
      const valueOf = async () => {
        const value = on.stored(await on.repository.get(on.key('a')))[field.property]
        return Number(value ?? 0)
      }
      const before = await valueOf()
      // The property is known only at run time.
      const patch = { [field.property]: increment(1) } as never
      const isRefused = await on.repository.update(on.key('a'), patch, [field.proto]).then(
        () => false,
        (error: unknown) => error instanceof TypeError || Promise.reject(error as Error),
      )
      assert.equal(await valueOf(), isRefused ? before : before + 1)
    },
  ],
  [
    'a locked read returns the current value',
    async (on) => {
      await on.store('a', 'b')
      await on.repository.transaction(async () => {
        assert.equal(on.nameOf(await on.repository.get(on.key('a'), { lock: 'update' })), 'a')
        const batch = await on.repository.batchGet([on.key('b'), on.key('a')], { lock: 'update' })
        assert.deepEqual(
          batch.map((entity) => on.nameOf(entity)),
          ['b', 'a'],
        )
        const { items } = await on.repository.list({}, { lock: 'update', wait: 'skip' })
        assert.equal(items.length, 2)
      })
    },
  ],
]
