import assert from 'node:assert/strict'
import { InvalidArgument } from '../../errors.js'
import { type Case, rejects } from './subject.js'

const NAMES = ['a', 'b', 'c', 'd', 'e'] as const

/** List: sort order, filters and pages. */
export const LISTS: readonly Case[] = [
  [
    'list sorts by key by default',
    async (on) => {
      await on.store('c', 'a', 'b')
      assert.deepEqual(await on.names(), on.inOrder('a', 'b', 'c'))
    },
  ],
  [
    'pages contain every entity once, and the last page has no token',
    async (on) => {
      await on.store(...NAMES)
      const walked: string[] = []
      let pageToken = ''
      let pages = 0
      do {
        const page = await on.repository.list({ pageSize: 2, pageToken })
        walked.push(...page.items.map((entity) => on.nameOf(entity)))
        pageToken = page.nextPageToken
        pages++
      } while (pageToken !== '' && pages < 9)
      assert.deepEqual(walked, NAMES)
      assert.equal(pages, 3)
    },
  ],
  [
    'a page that ends with the last entity has no token',
    async (on) => {
      await on.store('a', 'b')
      assert.equal((await on.repository.list({ pageSize: 2 })).nextPageToken, '')
    },
  ],
  [
    'an entity that is created meanwhile causes no repeated or skipped entity',
    async (on) => {
      await on.store('b', 'c', 'd')
      const first = await on.repository.list({ pageSize: 2 })
      await on.store('a')
      const second = await on.repository.list({ pageSize: 2, pageToken: first.nextPageToken })
      assert.deepEqual(
        [...first.items, ...second.items].map((entity) => on.nameOf(entity)),
        // A number that the database generates sorts last.
        on.isCounted ? ['b', 'c', 'd', 'a'] : ['b', 'c', 'd'],
      )
    },
  ],
  [
    'a filter finds by key, and a negated filter finds the rest',
    async (on) => {
      await on.store('a', 'b')
      if (!on.filtersByKey) return rejects(on.repository.list({ filter: on.is('a') }), InvalidArgument)
      const found = async (filter: string) =>
        Array.from((await on.repository.list({ filter })).items, (entity) => on.nameOf(entity))
      assert.deepEqual(await found(on.is('a')), ['a'])
      assert.deepEqual(await found(`NOT ${on.is('a')}`), ['b'])
    },
  ],
  [
    'rejects an invalid filter, order and token as InvalidArgument',
    async (on) => {
      await on.store('a', 'b')
      for (const list of [
        { filter: 'no_such_field = 1' },
        { filter: `${on.model.key.proto} =` },
        { orderBy: 'no_such_field' },
        { pageToken: 'no token of ours' },
      ])
        await rejects(on.repository.list(list), InvalidArgument)
      const { nextPageToken } = await on.repository.list({ pageSize: 1 })
      const filter = on.is('b')
      await rejects(on.repository.list({ pageSize: 1, pageToken: nextPageToken, filter }), InvalidArgument)
    },
  ],
  [
    'count and exists agree with all pages of a list',
    async (on) => {
      assert.equal(await on.repository.exists(), false)
      await on.store('a', 'b', 'c')
      const filter = on.filtersByKey ? `NOT ${on.is('a')}` : ''
      const left = on.filtersByKey ? 2 : 3
      assert.equal(await on.repository.count(), 3)
      assert.equal(await on.repository.count({}, { limit: 2 }), 2)
      assert.equal(await on.repository.count({ filter }), left)
      assert.equal(await on.repository.exists({ filter }), true)
      await on.repository.delete(on.key('b'))
      assert.equal(await on.repository.count({ filter }), left - 1)
      assert.equal(
        await on.repository.count({ filter, showDeleted: true }),
        on.model.deleteTime === undefined ? left - 1 : left,
      )
      await rejects(on.repository.count({ filter: 'no_such_field = 1' }), InvalidArgument)
    },
  ],
]
