import { expect } from 'chai'
import { InvalidArgument } from '../../../lib/errors.js'
import type { ListOptions } from '../../../lib/persistence/contract/repository.js'
import { asTenant, draft, type Holder, inAcme, rejection } from './subject.js'

/** Paging, order and the rest of ListOptions. */
export const lists = (holder: Holder): void => {
  const make = async (...ids: string[]) => {
    for (const [i, id] of ids.entries())
      await holder.subject.specimens.create(draft({ id, count: i, title: `t${i % 2}` }))
  }
  const walk = async (list: ListOptions) => {
    const pages: string[][] = []
    let pageToken = ''
    do {
      const page = await holder.subject.specimens.list({ ...list, pageToken })
      pages.push(page.items.map(({ id }) => id))
      pageToken = page.nextPageToken
    } while (pageToken !== '' && pages.length < 100)
    return pages
  }

  describe('list', () => {
    it('returns 50 rows by default, and for a size that is not positive', () =>
      inAcme(async () => {
        await make(...Array.from({ length: 53 }, (_, i) => `k${String(i).padStart(2, '0')}`))
        for (const pageSize of [undefined, 0, -1]) {
          const page = await holder.subject.specimens.list(pageSize === undefined ? {} : { pageSize })
          expect(page.items).to.have.length(50)
          expect(page.nextPageToken).to.not.equal('')
        }
        expect((await holder.subject.specimens.list({ pageSize: 5000 })).items).to.have.length(53)
      }))

    it('returns an empty token on the last page', () =>
      inAcme(async () => {
        await make('a', 'b')
        expect((await holder.subject.specimens.list({ pageSize: 2 })).nextPageToken).to.equal('')
        expect((await holder.subject.specimens.list({ pageSize: 1 })).nextPageToken).to.not.equal('')
      }))

    const orders = [
      ['', [['a', 'b'], ['c', 'd'], ['e']]],
      ['count desc', [['e', 'd'], ['c', 'b'], ['a']]],
      ['title, count desc', [['e', 'c'], ['a', 'd'], ['b']]],
      ['title DESC , count', [['b', 'd'], ['a', 'c'], ['e']]],
      ['id desc', [['e', 'd'], ['c', 'b'], ['a']]],
      ['create_time desc', [['e', 'd'], ['c', 'b'], ['a']]],
    ] as const
    for (const [orderBy, pages] of orders)
      it(`pages through the order ${JSON.stringify(orderBy)}`, () =>
        inAcme(async () => {
          await make('a', 'b', 'c', 'd', 'e')
          expect(await walk({ orderBy, pageSize: 2 })).to.deep.equal(pages)
        }))

    it('sorts NULL last ascending and first descending, and walks over it', () =>
      inAcme(async () => {
        const { specimens } = holder.subject
        for (const [id, rank] of Object.entries({ a: 2, b: undefined, c: 1, d: undefined }))
          await specimens.create(draft({ id, ...(rank !== undefined && { rank }) }))
        expect((await walk({ orderBy: 'rank', pageSize: 1 })).flat()).to.deep.equal(['c', 'a', 'b', 'd'])
        expect((await walk({ orderBy: 'rank desc', pageSize: 1 })).flat()).to.deep.equal(['d', 'b', 'a', 'c'])
      }))

    it('sorts strings by code point, with case and trailing spaces', () =>
      inAcme(async () => {
        const titles = ['a', 'B', 'a ', 'A', 'ä', 'z', '\u{1F600}', '\uFB01', '']
        for (const [i, title] of titles.entries())
          await holder.subject.specimens.create(draft({ id: `k${i}`, title }))
        const { items } = await holder.subject.specimens.list({ orderBy: 'title' })
        expect(items.map(({ title }) => title)).to.deep.equal([
          '',
          'A',
          'B',
          'a',
          'a ',
          'z',
          'ä',
          '\uFB01',
          '\u{1F600}',
        ])
      }))

    it('returns each existing row once while others are created and deleted', () =>
      inAcme(async () => {
        await make('b', 'd', 'f', 'h')
        const first = await holder.subject.specimens.list({ pageSize: 2 })
        await holder.subject.specimens.create(draft({ id: 'a' }))
        await holder.subject.specimens.create(draft({ id: 'g' }))
        await holder.subject.specimens.delete('d')
        const second = await holder.subject.specimens.list({ pageSize: 9, pageToken: first.nextPageToken })
        expect(first.items.map(({ id }) => id)).to.deep.equal(['b', 'd'])
        expect(second.items.map(({ id }) => id)).to.deep.equal(['f', 'g', 'h'])
      }))

    it('accepts an offset as token, base64 of a decimal, and goes on with offsets', () =>
      inAcme(async () => {
        await make('a', 'b', 'c', 'd')
        const page = await holder.subject.specimens.list({
          pageSize: 2,
          pageToken: Buffer.from('1').toString('base64'),
        })
        expect(page.items.map(({ id }) => id)).to.deep.equal(['b', 'c'])
        expect(Buffer.from(page.nextPageToken, 'base64').toString()).to.equal('3')
      }))

    const server = 'the server sets it, and it is not declared as filterable'
    for (const [field, why] of [
      ['etag', server],
      ['account_id', 'it is the tenant'],
      ['delete_time', server],
    ] as const)
      it(`says that ${field} exists and cannot be named`, () =>
        inAcme(async () => {
          const { specimens } = holder.subject
          const filtered = await rejection(specimens.list({ filter: `${field} = "x"` }), InvalidArgument)
          expect(filtered.message).to.equal(`filter: field "${field}" cannot be filtered at position 1`)
          const sorted = await rejection(specimens.list({ orderBy: `count, ${field}` }), InvalidArgument)
          expect(sorted.message).to.match(/; valid: id, title, (?!.*tags)/)
          expect(sorted.message).to.include(`field "${field}" cannot be sorted by: ${why} at position 8`)
        }))

    const foreign: readonly [string, ListOptions][] = [
      ['another filter', { filter: 'count > 0' }],
      ['another order', { orderBy: 'count' }],
      ['show_deleted', { showDeleted: true }],
      ['another search', { search: 'x' }],
    ]
    for (const [what, other] of foreign)
      it(`rejects a token with ${what}`, () =>
        inAcme(async () => {
          await make('a', 'b')
          const { nextPageToken } = await holder.subject.specimens.list({ pageSize: 1 })
          const list = holder.subject.specimens.list({ pageSize: 1, pageToken: nextPageToken, ...other })
          expect(await rejection(list, InvalidArgument)).to.include({ field: 'page_token' })
        }))

    it("refuses another tenant's token", async () => {
      const token = await inAcme(async () => {
        await make('a', 'b')
        return (await holder.subject.specimens.list({ pageSize: 1 })).nextPageToken
      })
      await asTenant('globex', () =>
        rejection(holder.subject.specimens.list({ pageToken: token }), InvalidArgument),
      )
    })

    for (const pageToken of [
      'x',
      '!',
      'LTE=',
      'MS41',
      'bnVsbA==',
      'W10=',
      'W1tdLCIiXQ==',
      '\0',
      'a'.repeat(70_000),
    ])
      it(`rejects the token ${JSON.stringify(pageToken.slice(0, 20))}`, () =>
        inAcme(async () => {
          expect(await rejection(holder.subject.specimens.list({ pageToken }), InvalidArgument)).to.include({
            field: 'page_token',
          })
        }))

    for (const [orderBy, why] of [
      ['nope', 'unknown field'],
      ['account_id', 'cannot be sorted by'],
      ['webhook_secret', 'unknown field'],
      ['api_key', 'unknown field'],
      ['serial', 'cannot be sorted by'],
      ['tags', 'no sort order'],
      ['title,', 'empty term'],
      ['title, title desc', 'named twice'],
      ['title sideways', 'asc or desc'],
      ['title; DROP TABLE specimens', 'asc or desc|unknown'],
      ['title\u00a0desc', 'unknown field'],
      ['title desc\u2003', 'asc or desc'],
      [' '.repeat(5000), 'longer than 4096'],
    ] as const)
      it(`rejects order_by ${JSON.stringify(orderBy.slice(0, 40))}: ${why}`, () =>
        inAcme(async () => {
          expect(
            await rejection(holder.subject.specimens.list({ orderBy }), InvalidArgument, why),
          ).to.include({ field: 'order_by' })
        }))

    it('takes a search term of 1024 characters and no more', () =>
      inAcme(async () => {
        for (const letter of ['x', '\u{1F600}']) {
          await holder.subject.specimens.list({ search: ` ${letter.repeat(1024)} ` })
          expect(
            await rejection(holder.subject.specimens.list({ search: letter.repeat(1025) }), InvalidArgument),
          ).to.include({ field: 'q' })
        }
      }))

    for (const search of ['\0', 'a\0b', ' \0 ', '\ud800', 'a\udc00b'])
      it(`rejects the search term ${JSON.stringify(search)}, which a column cannot hold`, () =>
        inAcme(async () => {
          expect(await rejection(holder.subject.specimens.list({ search }), InvalidArgument)).to.include({
            field: 'q',
          })
        }))

    it('returns every row for a search term of nothing but spaces', () =>
      inAcme(async () => {
        await make('a', 'b')
        expect((await holder.subject.specimens.list({ search: ' \t ' })).items).to.have.length(2)
      }))
  })
}
