import assert from 'node:assert/strict'
import { ErrConflict, ErrNotFound, ErrPreconditionFailed, InvalidArgument } from '../../errors.js'
import { type Case, rejects } from './subject.js'

/** Create, get, update, delete, undelete and purge of one entity. */
export const WRITES: readonly Case[] = [
  [
    'create returns what get returns later',
    async (on) => {
      const [created] = await on.store('a')
      assert.ok(created !== undefined)
      assert.equal(on.nameOf(created), 'a')
      assert.deepEqual(on.stored(await on.repository.get(on.key('a'))), on.stored(created))
    },
  ],
  [
    'create generates a new key each time if the entity has none',
    async (on) => {
      const generated = await on.store('', '').catch((error: unknown) => {
        // A custom repository need not generate numbers or dates.
        if (on.mintsByItself || !(error instanceof InvalidArgument)) throw error
      })
      if (generated === undefined) return assert.deepEqual(await on.names(), [])
      const keys = generated.map((entity) => on.nameOf(entity))
      assert.equal(new Set(keys).size, 2)
      assert.ok(keys.every((key) => key !== ''))
    },
  ],
  [
    'create with an existing key is ErrConflict, and keeps the existing entity',
    async (on) => {
      const [created] = await on.store('a')
      const taken = { ...on.draft('a'), [on.model.key.property]: on.key('a') }
      // Callers cannot choose a generated number.
      await rejects(on.repository.create(taken), on.isCounted ? InvalidArgument : ErrConflict)
      assert.deepEqual(on.stored(await on.repository.get(on.key('a'))), on.stored(created))
    },
  ],
  [
    'get of an unknown key is ErrNotFound',
    (on) => rejects(on.repository.get(on.key('missing')), ErrNotFound),
  ],
  [
    'returned entities are copies',
    async (on) => {
      await on.store('a')
      const before = on.stored(await on.repository.get(on.key('a')))
      const returned = (await on.repository.get(on.key('a'))) as Record<string, unknown>
      for (const property of Object.keys(returned)) {
        const value = returned[property]
        if (value instanceof Date) value.setTime(0)
        else if (value instanceof Uint8Array) value.fill(1)
        else if (Object.getOwnPropertyDescriptor(returned, property)?.writable === true)
          returned[property] = undefined
      }
      assert.deepEqual(on.stored(await on.repository.get(on.key('a'))), before)
    },
  ],
  [
    'update with a mask writes what it names, and nothing else',
    async (on) => {
      const [created] = await on.store('a', 'b')
      assert.ok(created !== undefined && !on.isChanged(created), 'change must change what make makes')
      const updated = await on.repository.update(on.key('a'), on.patch, on.mask)
      assert.ok(on.isChanged(updated))
      assert.deepEqual(on.stored(await on.repository.get(on.key('a'))), on.stored(updated))
      assert.ok(!on.isChanged(await on.repository.get(on.key('b'))))
      assert.deepEqual(on.untouched(updated, on.mask), on.untouched(created, on.mask))
    },
  ],
  [
    'update without a mask writes every field',
    async (on) => {
      const [created] = await on.store('a')
      assert.ok(
        on.isChanged(await on.repository.update(on.key('a'), { ...(created as object), ...on.patch })),
      )
    },
  ],
  [
    'update with touchOnly writes no field, whatever the mask contains',
    async (on) => {
      const [created] = await on.store('a')
      for (const mask of [[], ['*'], on.mask, ['no_such_field']]) {
        const touched = await on.repository.update(on.key('a'), on.patch, mask, { touchOnly: true })
        assert.deepEqual(on.untouched(touched), on.untouched(created))
        assert.deepEqual(on.stored(await on.repository.get(on.key('a'))), on.stored(touched))
        if (on.hasEtag) assert.notDeepEqual(on.match(touched), on.match(created))
      }
    },
  ],
  [
    'update rejects a mask that names no field, and the key',
    async (on) => {
      const [created] = await on.store('a')
      for (const name of ['no_such_field', on.model.key.proto, '__proto__'])
        await rejects(on.repository.update(on.key('a'), on.patch, [...on.mask, name]), InvalidArgument)
      assert.deepEqual(on.stored(await on.repository.get(on.key('a'))), on.stored(created))
    },
  ],
  [
    'update of an unknown key is ErrNotFound',
    (on) => rejects(on.repository.update(on.key('missing'), on.patch, on.mask), ErrNotFound),
  ],
  [
    'a write with an old etag is ErrPreconditionFailed, and writes nothing',
    async (on) => {
      const [created] = await on.store('a')
      const old = on.hasEtag ? on.match(created) : { ifMatch: 'any' }
      if (on.hasEtag) {
        const updated = await on.repository.update(on.key('a'), on.patch, on.mask, old)
        assert.notDeepEqual(on.match(updated), old)
      }
      const before = on.stored(await on.repository.get(on.key('a')))
      await rejects(on.repository.update(on.key('a'), on.patch, on.mask, old), ErrPreconditionFailed)
      await rejects(on.repository.delete(on.key('a'), old), ErrPreconditionFailed)
      assert.deepEqual(on.stored(await on.repository.get(on.key('a'))), before)
    },
  ],
  [
    'of two updates with one etag exactly one succeeds',
    async (on) => {
      const [created] = await on.store('a')
      const once = () => on.repository.update(on.key('a'), on.patch, on.mask, on.match(created))
      const outcomes = await Promise.allSettled([once(), once()])
      const winners = outcomes.filter(({ status }) => status === 'fulfilled')
      assert.equal(winners.length, on.hasEtag ? 1 : 2)
    },
  ],
  [
    'delete hides the entity, and keeps its row if the resource is soft-deletable',
    async (on) => {
      await on.store('a', 'b')
      await on.repository.delete(on.key('a'))
      await rejects(on.repository.get(on.key('a')), ErrNotFound)
      await rejects(on.repository.update(on.key('a'), on.patch, on.mask), ErrNotFound)
      await rejects(on.repository.delete(on.key('a')), ErrNotFound)
      assert.deepEqual(await on.names(), ['b'])
      assert.deepEqual(await on.names(true), on.model.deleteTime === undefined ? ['b'] : ['a', 'b'])
    },
  ],
  [
    'undelete restores soft-deleted entities, and nothing else',
    async (on) => {
      const [created] = await on.store('a')
      await rejects(on.repository.undelete(on.key('a')), ErrNotFound)
      await on.repository.delete(on.key('a'))
      if (on.model.deleteTime === undefined) return rejects(on.repository.undelete(on.key('a')), ErrNotFound)
      const restored = await on.repository.undelete(on.key('a'))
      assert.deepEqual(on.stored(await on.repository.get(on.key('a'))), on.stored(restored))
      assert.equal(on.nameOf(restored), on.nameOf(created))
    },
  ],
  [
    'purgeExpired removes expired entities, and nothing else',
    async (on) => {
      const { expireTime } = on.model
      const instant = new Date('2030-01-01T00:00:00Z')
      if (expireTime === undefined) {
        await on.store('a')
        assert.equal(await on.repository.purgeExpired(new Date('9999-01-01T00:00:00Z')), 0)
        return assert.deepEqual(await on.names(true), ['a'])
      }
      const expiring = (at: number) => ({ [expireTime.property]: new Date(at) })
      await on.create('a', expiring(instant.getTime()))
      await on.create('b', expiring(instant.getTime() + 1))
      assert.equal(await on.repository.purgeExpired(instant), 1)
      assert.deepEqual(await on.names(true), ['b'])
    },
  ],
]
