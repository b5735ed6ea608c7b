import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { HTTP_STATUS, type Code } from '../../lib/errors.js'
import { RequestContext } from '../../lib/context.js'
import { backends, describeOn } from '../support/databases/backends.js'
import type { Outcome } from '../support/grpc/clients.js'
import { ALICE, post } from '../support/servers/server.js'
import { openServed, type Served } from './names/open-library.js'
import { named, READS, REFUSED, type Row, WRITES } from './names/rows.js'

const BOB = { ...ALICE, 'account-id': 'globex' }

/** The names in a response, whatever its form. */
const namesIn = (response: Readonly<Record<string, unknown>> | undefined): readonly string[] => {
  const items = response?.['editions'] ?? (response?.['name'] === undefined ? [] : [response])
  return (items as { readonly name: string }[]).map(({ name }) => name)
}

describeOn('names', backends, (backend) => {
  let served: Served

  before(async function () {
    served = await openServed(backend)
  })
  after(() => served.close())

  const call = (method: string, request: object, headers: object = ALICE): Promise<Outcome> =>
    served.client.unary(method, request, headers as never)

  const state = () =>
    RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
      const { items } = await served.editions.list({ showDeleted: true })
      return items
    })

  async function check({ method, request, http, code, names, says }: Row): Promise<void> {
    const outcome = await call(method, request)
    expect(status[outcome.code], outcome.details).to.equal(status[code])
    if (names !== undefined) expect(namesIn(outcome.answer)).to.deep.equal(names)
    if (says !== undefined) expect(outcome.details).to.include(says)
    if (http === undefined) return
    const [verb, path, body] = http
    const response = await fetch(`${served.running.http}${path}`, {
      ...(body === undefined ? { headers: ALICE } : post(ALICE, body, verb)),
      method: verb,
    })
    const json = (await response.json()) as Record<string, unknown>
    expect(response.status, JSON.stringify(json)).to.equal(HTTP_STATUS[status[code] as Code])
    if (names !== undefined) expect(namesIn(json)).to.deep.equal(names)
  }

  describe('that are read', () => {
    for (const row of READS) it(`${status[row.code]}: ${row.title}`, () => check(row))
  })

  describe('of writes that are refused', () => {
    for (const row of REFUSED)
      it(`${status[row.code]}: ${row.title}`, async () => {
        const before = await state()
        await check(row)
        expect(await state()).to.deep.equal(before)
      })
  })

  describe('of lists', () => {
    it('binds a page token to its parent', async () => {
      const first = await call('ListEditions', { parent: 'publishers/p1/series/-', page_size: 1 })
      const token = first.answer?.['next_page_token'] as string
      expect(namesIn(first.answer)).to.deep.equal([named('p1', 's1', 'a')])
      const again = (parent: string) => call('ListEditions', { parent, page_size: 1, page_token: token })
      expect(namesIn((await again('publishers/p1/series/-')).answer)).to.deep.equal([named('p1', 's1', 'b')])
      for (const parent of ['publishers/p1/series/s1', 'publishers/p2/series/-', 'publishers/-/series/-'])
        expect((await again(parent)).code, parent).to.equal(status.INVALID_ARGUMENT)
    })

    it('rejects a name in filters and sort orders, and accepts a part that the message shows', async () => {
      const parent = 'publishers/-/series/-'
      for (const list of [{ filter: `name = "${named('p1', 's1', 'a')}"` }, { order_by: 'name' }]) {
        const { code, details } = await call('ListEditions', { parent, ...list })
        expect(code).to.equal(status.INVALID_ARGUMENT)
        expect(details).to.include('name')
      }
      const filtered = await call('ListEditions', { parent, filter: 'series_id = "s2"' })
      expect(namesIn(filtered.answer)).to.deep.equal([named('p1', 's2', 'c')])
      const ordered = await call('ListEditions', {
        parent: 'publishers/p1/series/-',
        order_by: 'series_id desc, title',
      })
      expect(namesIn(ordered.answer)[0]).to.equal(named('p1', 's2', 'c'))
    })

    it('counts the resources under the parent', async () => {
      const parent = 'publishers/p1/series/-'
      const { answer } = await call('ListEditions', { parent, page_size: 1 })
      expect(answer?.['total_size']).to.equal(3)
    })

    it('shows deleted resources with their names', async () => {
      const { answer } = await call('ListEditions', {
        parent: 'publishers/p1/series/s1',
        show_deleted: true,
        filter: 'title = "acme gone"',
      })
      expect(namesIn(answer)).to.deep.equal([named('p1', 's1', 'gone')])
    })
  })

  describe('beside other features', () => {
    const name = named('p1', 's1', 'b')

    it('returns names if the read mask includes them', async () => {
      const only = await call('GetEdition', { name, read_mask: { paths: ['name'] } })
      expect(only.answer).to.include({ name, title: '' })
      const without = await call('GetEdition', { name, read_mask: { paths: ['title'] } })
      expect(without.answer).to.include({ name: '', title: 'acme b' })
      const url = `${served.running.http}/v1/${name}?read_mask=name`
      expect(await (await fetch(url, { headers: ALICE })).json()).to.deep.equal({ name })
    })

    it('returns names together with an etag', async () => {
      const { answer } = await call('GetEdition', { name })
      const etag = answer?.['etag'] as string
      const update = (given: string, of = name) =>
        call('UpdateEdition', {
          edition: { name: of, pages: 3, etag: given },
          update_mask: { paths: ['pages'] },
        })
      expect((await update('"old"')).code).to.equal(status.FAILED_PRECONDITION)
      expect((await update('"old"', named('p2', 's1', 'b'))).code).to.equal(status.NOT_FOUND)
      expect((await update(etag)).code).to.equal(status.OK)
      expect((await call('DeleteEdition', { name, etag })).code).to.equal(status.FAILED_PRECONDITION)
      const response = await fetch(`${served.running.http}/v1/${named('p2', 's1', 'b')}`, {
        headers: { ...ALICE, 'if-match': etag },
      })
      expect(response.status).to.equal(404)
    })

    it('returns the names that the call without validate_only would', async () => {
      const parent = 'publishers/p1/series/s1'
      const edition = { title: 'dry' }
      const made = await call('CreateEdition', { parent, edition, edition_id: 'dry', validate_only: true })
      expect(namesIn(made.answer)).to.deep.equal([`${parent}/editions/dry`])
      expect((await call('GetEdition', { name: `${parent}/editions/dry` })).code).to.equal(status.NOT_FOUND)
      const minted = await call('CreateEdition', { parent, edition, validate_only: true })
      expect(namesIn(minted.answer)[0]).to.match(new RegExp(`^${parent}/editions/[0-9a-f-]{36}$`))
    })

    it('repeats a call with the same names, and runs it again under another parent', async () => {
      const create = (parent: string) =>
        call('CreateEdition', {
          parent,
          edition: { title: 'once' },
          request_id: 'f3c1ae5e-6f0b-4f43-8a51-5a4d2d1d2a10',
        })
      const first = await create('publishers/p7/series/s1')
      const second = await create('publishers/p7/series/s1')
      expect(second.answer).to.deep.equal(first.answer)
      expect((await create('publishers/p7/series/s2')).code).to.equal(status.INVALID_ARGUMENT)
      const { answer } = await call('ListEditions', { parent: 'publishers/p7/series/-' })
      expect(namesIn(answer)).to.deep.equal(namesIn(first.answer))
    })
  })

  describe('at the top, and of a singleton', () => {
    it('lists resources with their own parent, or without one', async () => {
      const { publishers } = served
      const made = await publishers.unary(
        'CreatePublisher',
        { publisher: { title: 't' }, publisher_id: 'new' },
        ALICE,
      )
      expect(made.answer).to.include({ name: 'publishers/new' })
      const got = await publishers.unary('GetPublisher', { name: 'publishers/new' }, ALICE)
      expect(got.answer).to.include({ name: 'publishers/new', title: 't' })
      expect((await publishers.unary('GetPublisher', { name: 'publishers/new' }, BOB)).code).to.equal(
        status.NOT_FOUND,
      )
      expect((await publishers.unary('GetPublisher', { name: 'new' }, ALICE)).details).to.include(
        'publishers/{publisher}',
      )
    })

    it('finds a singleton by its parent', async () => {
      const { policies } = served
      const name = 'publishers/p1/policy'
      const got = await policies.unary('GetPolicy', { name }, ALICE)
      expect(got.answer).to.include({ name, max_pages: 9 })
      expect((await policies.unary('GetPolicy', { name }, BOB)).code).to.equal(status.NOT_FOUND)
      expect((await policies.unary('GetPolicy', { name: 'publishers/-/policy' }, ALICE)).code).to.equal(
        status.INVALID_ARGUMENT,
      )
      const policy = { name, max_pages: 5 }
      const updated = await policies.unary(
        'UpdatePolicy',
        { policy, update_mask: { paths: ['max_pages'] } },
        ALICE,
      )
      expect(updated.answer).to.include(policy)
      const list = async (parent: string) => {
        const { answer } = await policies.unary('ListPolicies', { parent }, ALICE)
        return (answer?.['policies'] as { name: string }[]).map((one) => one.name)
      }
      expect(await list('publishers/-')).to.deep.equal(['publishers/p1/policy', 'publishers/p2/policy'])
      expect(await list('publishers/p2')).to.deep.equal(['publishers/p2/policy'])
    })
  })

  describe('of writes', () => {
    for (const row of WRITES) it(`${status[row.code]}: ${row.title}`, () => check(row))

    it("leave another tenant's rows as they are", async () => {
      const { answer } = await call(
        'ListEditions',
        { parent: 'publishers/-/series/-', show_deleted: true },
        BOB,
      )
      expect(answer?.['editions']).to.have.length(2)
      for (const edition of answer?.['editions'] as Record<string, unknown>[])
        expect(edition).to.include({ pages: 1, delete_time: null })
    })
  })
})
