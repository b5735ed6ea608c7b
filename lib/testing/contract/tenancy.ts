import assert from 'node:assert/strict'
import { RequestContext } from '../../context.js'
import { ErrNotFound, PermissionDenied } from '../../errors.js'
import { type Case, rejects } from './subject.js'

/** Tests that a tenant cannot access rows of another one, unless the resource has no tenant. */
export const TENANCY: readonly Case[] = [
  [
    'hides the entity from another tenant',
    async (on) => {
      await on.store('a')
      const isShared = on.model.tenant === undefined
      await on.as('stranger', async () => {
        assert.deepEqual(await on.names(true), isShared ? ['a'] : [])
        if (isShared) return assert.ok(await on.repository.get(on.key('a')))
        await rejects(on.repository.get(on.key('a')), ErrNotFound)
        await rejects(on.repository.batchGet([on.key('a')]), ErrNotFound)
      })
    },
  ],
  [
    'does not let another tenant change the entity',
    async (on) => {
      const [created] = await on.store('a')
      if (on.model.tenant !== undefined)
        await on.as('stranger', async () => {
          const item = { key: on.key('a'), entity: on.patch, fieldMask: on.mask }
          assert.equal(await on.repository.count(), 0)
          assert.equal(await on.repository.exists(), false)
          await rejects(on.repository.update(on.key('a'), on.patch, on.mask), ErrNotFound)
          await rejects(on.repository.delete(on.key('a')), ErrNotFound)
          await rejects(on.repository.undelete(on.key('a')), ErrNotFound)
          await rejects(on.repository.batchUpdate([item]), ErrNotFound)
          await rejects(on.repository.batchDelete([on.key('a')]), ErrNotFound)
          assert.equal(await on.repository.purgeExpired(new Date('9999-01-01T00:00:00Z')), 0)
        })
      assert.deepEqual(on.stored(await on.repository.get(on.key('a'))), on.stored(created))
    },
  ],
  [
    'denies callers without a tenant',
    async (on) => {
      await on.store('a')
      await RequestContext.as({ subject: 'missing' }, async () => {
        if (on.model.tenant === undefined) return assert.deepEqual(await on.names(), ['a'])
        await rejects(on.repository.get(on.key('a')), PermissionDenied)
        await rejects(on.repository.list(), PermissionDenied)
        await rejects(on.repository.count(), PermissionDenied)
        await rejects(on.repository.exists(), PermissionDenied)
        await rejects(on.repository.create(on.draft('b')), PermissionDenied)
        await rejects(on.repository.update(on.key('a'), on.patch, on.mask), PermissionDenied)
        await rejects(on.repository.delete(on.key('a')), PermissionDenied)
      })
      assert.deepEqual(await on.names(), ['a'])
    },
  ],
]
