import { expect } from 'chai'
import { RequestContext } from '../../lib/context.js'
import { filter } from '../../lib/persistence/query/filter-template.js'
import { wrapped } from '../../lib/server/methods/wrapped.js'
import { backends, describeOn } from '../support/databases/backends.js'
import { Reckoned, reckoning } from '../support/entities/reckoned.js'
import { serveSpecimens } from '../support/servers/served-specimens.js'
import { ALICE, post } from '../support/servers/server.js'

type Served = Awaited<ReturnType<typeof serveSpecimens>>
const INSIDE = {
  context: new RequestContext({ principal: { subject: 'a', tenant: 'acme', groups: [], scopes: [] } }),
}
const INTERNAL = 13

describeOn('computed fields in a response', backends, (backend) => {
  let served: Served
  let isRestricted = false

  before(async () => {
    served = await serveSpecimens(
      backend,
      (specimens) => ({
        undeleteSpecimen: wrapped({ transaction: true }, async (request, _call, standard) => {
          const { serial, count } = await standard(request)
          await specimens.update(request.id, { title: `${serial}+${count}` }, ['title'])
          return specimens.model.toMessage(await specimens.get(request.id))
        }),
        weighSpecimen: async ({ id }) => specimens.model.toMessage(await specimens.get(id)),
      }),
      {
        authorizer: {
          decidesByRow: true,
          authorize: () =>
            Promise.resolve(
              isRestricted
                ? {
                    where: filter`title != ${'x'}`,
                    check: ({ serial }: Reckoned) => Promise.resolve(serial !== 'c/no'),
                  }
                : true,
            ),
        },
      },
      Reckoned,
    )
  })
  beforeEach(() => {
    delete reckoning.score
    isRestricted = false
  })
  after(() => served?.stop())

  const unary = (method: string, request: object) => served.client.unary(method, request, ALICE)
  const create = (id: string, more: object = {}) =>
    unary('CreateSpecimen', {
      specimen: { title: 'Slate', code: id, labels: ['a', 'b'], weight: 3, ratio: 1, ...more },
      specimen_id: id,
    })
  const SLATE = { title: 'Slate', count: 2, active: true, score: 0.5, phase: 'CUT', rank: 2 }

  it('returns computed fields from every standard method, and ignores what a client sends for them', async () => {
    const created = await create('a', {
      count: 9,
      serial: 'mine',
      rank: 9,
      note: 'mine',
      origin: { quarry: 'x' },
    })
    expect(created.details).to.equal('OK')
    expect(created.answer).to.include({ ...SLATE, serial: 'a/Slate', note: 'undefined undefined' })
    expect(created.answer?.['origin']).to.deep.include({ quarry: 'Slate', crew: ['a', 'b'] })
    expect((await unary('GetSpecimen', { id: 'a' })).answer).to.include({ ...SLATE, serial: 'a/Slate' })
    const { answer: page } = await unary('ListSpecimens', { filter: 'code = "a"' })
    expect((page?.['specimens'] as object[])[0]).to.include({ ...SLATE, serial: 'a/Slate' })
    const chalk = { specimen: { id: 'a', title: 'Chalk' }, update_mask: { paths: ['title'] } }
    expect((await unary('UpdateSpecimen', chalk)).answer).to.include({ serial: 'a/Chalk', count: 2 })
    const whole = {
      specimen: { id: 'a', title: 'Slate', code: 'a', labels: ['a'], count: 9 },
      update_mask: { paths: ['*'] },
    }
    expect((await unary('UpdateSpecimen', whole)).answer).to.include({ serial: 'a/Slate', count: 1 })
    for (const [method, request] of [
      ['BatchGetSpecimens', { ids: ['a'] }],
      ['BatchUpdateSpecimens', { requests: [chalk] }],
    ] as const) {
      const { answer } = await unary(method, request)
      expect((answer?.['specimens'] as object[])[0], method).to.include({ count: 1 })
    }
  })

  it('returns computed fields from a wrapped method, from a custom method and over HTTP', async () => {
    await create('b')
    await unary('DeleteSpecimen', { id: 'b' })
    expect((await unary('UndeleteSpecimen', { id: 'b' })).answer).to.include({ serial: 'b/b/Slate+2' })
    expect((await unary('WeighSpecimen', { id: 'b' })).answer).to.include({ serial: 'b/b/Slate+2' })
    const response = await fetch(`${served.http}/v1/specimens/b`, { headers: ALICE })
    expect(await response.json()).to.include({ serial: 'b/b/Slate+2', count: 2 })
    const patched = await fetch(
      `${served.http}/v1/specimens/b?update_mask=title`,
      post(ALICE, { title: 'x' }, 'PATCH'),
    )
    expect(await patched.json()).to.include({ serial: 'b/x' })
  })

  it('returns computed fields in restricted calls', async () => {
    await create('c')
    isRestricted = true
    expect((await unary('GetSpecimen', { id: 'c' })).answer).to.include({ serial: 'c/Slate' })
    const chalk = { specimen: { id: 'c', title: 'Chalk' }, update_mask: { paths: ['title'] } }
    expect((await unary('UpdateSpecimen', chalk)).answer).to.include({ serial: 'c/Chalk' })
    const denied = { ...chalk, specimen: { id: 'c', title: 'no' } }
    expect((await unary('UpdateSpecimen', denied)).code).to.equal(7)
  })

  it('returns a computed field only if the read mask names it', async () => {
    await create('d')
    const read_mask = { paths: ['id', 'serial'] }
    const { answer } = await unary('GetSpecimen', { id: 'd', read_mask })
    expect(answer).to.include({ id: 'd', serial: 'd/Slate', count: 0, title: '' })
    const { answer: page } = await unary('ListSpecimens', {
      filter: 'code = "d"',
      read_mask: { paths: ['count'] },
    })
    expect((page?.['specimens'] as object[])[0]).to.include({ count: 2, serial: '' })
  })

  it('rejects computed fields in update masks, filters and sort orders', async () => {
    await create('e')
    const refused = await unary('UpdateSpecimen', {
      specimen: { id: 'e', count: 4 },
      update_mask: { paths: ['count'] },
    })
    expect([refused.code, refused.details]).to.deep.equal([
      3,
      'update_mask: count cannot be written: it is output-only, computed from the others',
    ])
    expect((await unary('ListSpecimens', { filter: 'count = 2' })).code).to.equal(3)
    expect((await unary('ListSpecimens', { order_by: 'serial' })).code).to.equal(3)
  })

  it('fails with INTERNAL if a computed field throws, and only logs the cause', async () => {
    await create('f')
    const logged = served.records.length
    reckoning.score = () => {
      throw new RangeError('a detail')
    }
    const { code, details, trailers } = await unary('GetSpecimen', { id: 'f' })
    expect([code, details]).to.deep.equal([INTERNAL, 'internal error'])
    expect(JSON.stringify(trailers.getMap())).to.not.include('detail')
    const records = served.records.slice(logged).filter(({ message }) => message === 'call failed')
    expect(records).to.have.length(1)
    expect(JSON.stringify(records[0]?.fields))
      .to.match(/score in Reckoned/)
      .and.match(/a detail/)
    reckoning.score = () => Promise.resolve(1)
    expect((await unary('ListSpecimens', { filter: 'code = "f"' })).code).to.equal(INTERNAL)
    expect(JSON.stringify(served.records.slice(logged))).to.match(/the function is async/)
    reckoning.score = undefined
    expect((await served.specimens.get('f', INSIDE)).score).to.equal(0.5)
  })
})
