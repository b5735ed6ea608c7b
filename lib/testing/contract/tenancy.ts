import assert from 'node:assert/strict'
import { RequestContext } from '../../context.js'
import { ErrNotFound, PermissionDenied } from '../../errors.js'
import { asStranger, type Case, rejects } from './subject.js'

/** One tenant reaches nothing of another, unless the resource belongs to none. */
export const TENANCY: readonly Case[] = [
  [
    'another tenant finds nothing of it',
    async (on) => {
      await on.store('a')
      const isShared = on.model.tenant === undefined
      await asStranger(async () => {
        assert.deepEqual(await on.keys(true), isShared ? ['a'] : [])
        if (isShared) return assert.ok(await on.repository.get('a'))
        await rejects(on.repository.get('a'), ErrNotFound)
        await rejects(on.repository.batchGet(['a']), ErrNotFound)
      })
    },
  ],
  [
    'another tenant changes nothing of it',
    async (on) => {
      const [created] = await on.store('a')
      if (on.model.tenant !== undefined)
        await asStranger(async () => {
          const item = { key: 'a', entity: on.patch, fieldMask: on.mask }
          assert.equal(await on.repository.count(), 0)
          assert.equal(await on.repository.exists(), false)
          await rejects(on.repository.update('a', on.patch, on.mask), ErrNotFound)
          await rejects(on.repository.delete('a'), ErrNotFound)
          await rejects(on.repository.undelete('a'), ErrNotFound)
          await rejects(on.repository.batchUpdate([item]), ErrNotFound)
          await rejects(on.repository.batchDelete(['a']), ErrNotFound)
          assert.equal(await on.repository.purgeExpired(new Date('9999-01-01T00:00:00Z')), 0)
        })
      assert.deepEqual(on.stored(await on.repository.get('a')), on.stored(created))
    },
  ],
  [
    'nobody without a tenant reaches it',
    async (on) => {
      await on.store('a')
      await RequestContext.as({ subject: 'nobody' }, async () => {
        if (on.model.tenant === undefined) return assert.deepEqual(await on.keys(), ['a'])
        await rejects(on.repository.get('a'), PermissionDenied)
        await rejects(on.repository.list(), PermissionDenied)
        await rejects(on.repository.count(), PermissionDenied)
        await rejects(on.repository.exists(), PermissionDenied)
        await rejects(on.repository.create(on.draft('b')), PermissionDenied)
        await rejects(on.repository.update('a', on.patch, on.mask), PermissionDenied)
        await rejects(on.repository.delete('a'), PermissionDenied)
      })
      assert.deepEqual(await on.keys(), ['a'])
    },
  ],
]
