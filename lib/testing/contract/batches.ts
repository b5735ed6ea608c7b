import assert from 'node:assert/strict'
import { ErrNotFound, InvalidArgument } from '../../errors.js'
import { type Case, rejects } from './subject.js'

/** Batches and transactions, which are atomic. */
export const BATCHES: readonly Case[] = [
  [
    'batchGet returns resources in the order of the keys, and duplicates twice',
    async (on) => {
      await on.store('a', 'b')
      const found = await on.repository.batchGet([on.key('b'), on.key('a'), on.key('b')])
      assert.deepEqual(
        found.map((entity) => on.nameOf(entity)),
        ['b', 'a', 'b'],
      )
      await rejects(on.repository.batchGet([on.key('a'), on.key('missing')]), ErrNotFound)
      assert.deepEqual(await on.repository.batchGet([]), [])
    },
  ],
  [
    'batchUpdate returns resources in the order of its items',
    async (on) => {
      await on.store('a', 'b')
      const updated = await on.repository.batchUpdate(
        ['b', 'a'].map((name) => ({ key: on.key(name), entity: on.patch, fieldMask: on.mask })),
      )
      assert.deepEqual(
        updated.map((entity) => on.nameOf(entity)),
        ['b', 'a'],
      )
      assert.ok(updated.every((entity) => on.isChanged(entity)))
    },
  ],
  [
    'batchUpdate with touchOnly writes no field of that item',
    async (on) => {
      const [created] = await on.store('a', 'b')
      const item = (name: string, touchOnly: boolean) => ({
        key: on.key(name),
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
    'batchUpdate with an unknown key writes nothing',
    async (on) => {
      await on.store('a', 'b')
      const items = ['a', 'missing', 'b'].map((name) => ({
        key: on.key(name),
        entity: on.patch,
        fieldMask: on.mask,
      }))
      await rejects(on.repository.batchUpdate(items), ErrNotFound)
      for (const name of ['a', 'b']) assert.ok(!on.isChanged(await on.repository.get(on.key(name))))
    },
  ],
  [
    'batchDelete deletes all rows, or none if one key is unknown',
    async (on) => {
      await on.store('a', 'b', 'c')
      await rejects(on.repository.batchDelete([on.key('a'), on.key('missing')]), ErrNotFound)
      assert.deepEqual(await on.names(), ['a', 'b', 'c'])
      await on.repository.batchDelete([on.key('c'), on.key('a')])
      assert.deepEqual(await on.names(), ['b'])
    },
  ],
  [
    'rejects a batch that writes a key twice, or has more than 1000 items, as InvalidArgument',
    async (on) => {
      await on.store('a')
      await rejects(on.repository.batchDelete([on.key('a'), on.key('a')]), InvalidArgument)
      const item = { key: on.key('a'), entity: on.patch, fieldMask: on.mask }
      await rejects(on.repository.batchUpdate([item, item]), InvalidArgument)
      const many = Array.from({ length: 1001 }, (_, i) => on.key(`k${i}`))
      await rejects(on.repository.batchGet(many), InvalidArgument)
      assert.deepEqual(await on.names(), ['a'])
    },
  ],
  [
    'a transaction writes everything, or nothing',
    async (on) => {
      await on.store('a')
      await on.repository.transaction(() => on.store('b'))
      const failing = on.repository.transaction(async () => {
        await on.store('c')
        await on.repository.update(on.key('a'), on.patch, on.mask)
        await on.repository.delete(on.key('b'))
        throw new RangeError('on purpose')
      })
      await rejects(failing, RangeError)
      assert.deepEqual(await on.names(), ['a', 'b'])
      assert.ok(!on.isChanged(await on.repository.get(on.key('a'))))
    },
  ],
]
