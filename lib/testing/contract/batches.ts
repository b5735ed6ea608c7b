import assert from 'node:assert/strict'
import { ErrNotFound, InvalidArgument } from '../../errors.js'
import { type Case, rejects } from './subject.js'

/** Batches and transactions: all or nothing. */
export const BATCHES: readonly Case[] = [
  [
    'batchGet returns resources in the order of the keys, duplicates as duplicates',
    async (on) => {
      await on.store('a', 'b')
      const found = await on.repository.batchGet(['b', 'a', 'b'])
      assert.deepEqual(
        found.map((entity) => on.keyOf(entity)),
        ['b', 'a', 'b'],
      )
      await rejects(on.repository.batchGet(['a', 'nobody']), ErrNotFound)
      assert.deepEqual(await on.repository.batchGet([]), [])
    },
  ],
  [
    'batchUpdate returns resources in the order of its items',
    async (on) => {
      await on.store('a', 'b')
      const updated = await on.repository.batchUpdate(
        ['b', 'a'].map((key) => ({ key, entity: on.patch, fieldMask: on.mask })),
      )
      assert.deepEqual(
        updated.map((entity) => on.keyOf(entity)),
        ['b', 'a'],
      )
      assert.ok(updated.every((entity) => on.isChanged(entity)))
    },
  ],
  [
    'batchUpdate with touchOnly writes no field of that item',
    async (on) => {
      const [created] = await on.store('a', 'b')
      const item = (key: string, touchOnly: boolean) => ({
        key,
        entity: on.patch,
        fieldMask: touchOnly ? [] : on.mask,
        touchOnly,
      })
      const [b, a] = await on.repository.batchUpdate([item('b', false), item('a', true)])
      assert.ok(b !== undefined && on.isChanged(b))
      assert.deepEqual(on.untouched(a), on.untouched(created))
    },
  ],
  [
    'batchUpdate with a key of nothing writes nothing',
    async (on) => {
      await on.store('a', 'b')
      const items = ['a', 'nobody', 'b'].map((key) => ({ key, entity: on.patch, fieldMask: on.mask }))
      await rejects(on.repository.batchUpdate(items), ErrNotFound)
      for (const key of ['a', 'b']) assert.ok(!on.isChanged(await on.repository.get(key)))
    },
  ],
  [
    'batchDelete deletes all, and with a key of nothing none',
    async (on) => {
      await on.store('a', 'b', 'c')
      await rejects(on.repository.batchDelete(['a', 'nobody']), ErrNotFound)
      assert.deepEqual(await on.keys(), ['a', 'b', 'c'])
      await on.repository.batchDelete(['c', 'a'])
      assert.deepEqual(await on.keys(), ['b'])
    },
  ],
  [
    'a batch that writes a key twice, or more than 1000, is InvalidArgument',
    async (on) => {
      await on.store('a')
      await rejects(on.repository.batchDelete(['a', 'a']), InvalidArgument)
      const item = { key: 'a', entity: on.patch, fieldMask: on.mask }
      await rejects(on.repository.batchUpdate([item, item]), InvalidArgument)
      const many = Array.from({ length: 1001 }, (_, i) => `k${i}`)
      await rejects(on.repository.batchGet(many), InvalidArgument)
      assert.deepEqual(await on.keys(), ['a'])
    },
  ],
  [
    'a transaction keeps everything, or nothing',
    async (on) => {
      await on.store('a')
      await on.repository.transaction(() => on.store('b'))
      const failing = on.repository.transaction(async () => {
        await on.store('c')
        await on.repository.update('a', on.patch, on.mask)
        await on.repository.delete('b')
        throw new RangeError('on purpose')
      })
      await rejects(failing, RangeError)
      assert.deepEqual(await on.keys(), ['a', 'b'])
      assert.ok(!on.isChanged(await on.repository.get('a')))
    },
  ],
]
