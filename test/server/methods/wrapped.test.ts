import { expect } from 'chai'
import type { ServerCall } from '../../../lib/call.js'
import { RequestContext } from '../../../lib/context.js'
import { Aborted, DeclarationError, InvalidArgument } from '../../../lib/errors.js'
import { memoryRepositoryOf } from '../../../lib/persistence/index.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { supportsIfMatch, supportsValidateOnly } from '../../../lib/server/chain/handler.js'
import { wrapped } from '../../../lib/server/methods/wrapped.js'
import { backends, databases, describeOn } from '../../support/databases/backends.js'
import { everyStatementMayFail } from '../../support/databases/every-statement-may-fail.js'
import { Note } from '../../support/entities/specimen.js'
import type { Specimen } from '../../support/entities/specimen.js'
import { EchoService, NoteService, SpecimenService } from '../../support/gen/specimens_pb.js'
import { rejection } from '../../support/rejection.js'
import { serveSpecimens } from '../../support/servers/served-specimens.js'
import { ALICE, partly, post, startServer } from '../../support/servers/server.js'

type Served = Awaited<ReturnType<typeof serveSpecimens>>
const INSIDE = {
  context: new RequestContext({ principal: { subject: 'a', tenant: 'acme', groups: [], scopes: [] } }),
}

/** What a test makes of the title: the wraps of this service do what the title of the request says. */
const made = (title: string, code: string, more: object = {}) => ({
  specimen: { title, code },
  specimen_id: code,
  ...more,
})
const update = (id: string, title: string, more: object = {}) => ({
  specimen: { id, title },
  update_mask: { paths: ['title'] },
  ...more,
})

describeOn('a wrapped method', backends, (backend) => {
  let served: Served
  const ran: string[] = []
  const committed: string[] = []
  const note = (what: string, { validateOnly, context }: ServerCall) => {
    expect(RequestContext.current()).to.equal(context)
    expect(context.validateOnly).to.equal(validateOnly)
    ran.push(what)
    context.afterCommit(() => void committed.push(what))
  }

  before(async () => {
    served = await serveSpecimens(backend, (specimens) => ({
      createSpecimen: wrapped({ transaction: true }, async (request, call, standard) => {
        const { specimen } = request
        if (specimen === undefined) throw new InvalidArgument('specimen', 'is required')
        note('create', call)
        if (specimen.title === 'never') return { id: 'never', title: 'made by hand' }
        const created = await standard({
          ...request,
          specimen: { ...specimen, title: specimen.title.trim() },
        })
        // One with the ambient context, and one with the one that the call has.
        for (const [suffix, options] of [
          ['a', {}],
          ['b', { context: call.context }],
        ] as const)
          await specimens.create(
            { id: `${created.id}-${suffix}`, title: 'part', code: `${created.id}-${suffix}` },
            options,
          )
        if (specimen.title === 'fails') throw new Aborted('after everything was written')
        return { ...created, title: `${created.title}!` }
      }),
      updateSpecimen: wrapped({}, async (request, call, standard) => {
        note('update', call)
        const { specimen } = request
        if (specimen?.title === 'never') return specimen
        const first = await standard(request)
        if (specimen?.title === 'fails') throw new Aborted('after the row was written')
        if (specimen?.title !== 'twice') return first
        return standard({ ...request, specimen: { ...specimen, title: `${first.title} again` } })
      }),
      deleteSpecimen: wrapped({ transaction: true }, async (request, call, standard) => {
        note('delete', call)
        // The row changes before the standard method is asked.
        await specimens.update(request.id, { title: 'last words' }, ['title'])
        return standard(request)
      }),
      undeleteSpecimen: wrapped({ transaction: true }, async (request, call, standard) => {
        note('undelete', call)
        return standard(request)
      }),
      getSpecimen: wrapped({}, async (request, _call, standard) => {
        if (!request.id.startsWith('globex-')) return standard(request)
        return RequestContext.asSystem({ tenant: 'globex' }, () => standard(request))
      }),
      listSpecimens: wrapped({}, async (request, _call, standard) => {
        const page = await standard({ ...request, filter: 'title != "part"' })
        return { ...page, specimens: page.specimens.filter(({ id }) => id !== 'hidden') }
      }),
    }))
  })
  beforeEach(() => {
    ran.length = 0
    committed.length = 0
  })
  after(() => served?.stop())

  const exists = async (id: string) => {
    const { items } = await served.specimens.list({ filter: `code = "${id}"`, showDeleted: true }, INSIDE)
    return items.length > 0
  }
  const unary = (method: string, request: object, headers: object = {}) =>
    served.client.unary(method, request, { ...ALICE, ...headers })
  const etagOf = async (id: string) => (await unary('GetSpecimen', { id })).answer?.['etag'] as string

  it('changes request and result, and writes more in the same transaction', async () => {
    const { answer, details, trailers } = await unary('CreateSpecimen', made('  Marble ', 'w1'))
    expect(details).to.equal('OK')
    expect(answer).to.include({ id: 'w1', title: 'Marble!', account_id: 'acme' })
    expect(answer?.['api_key']).to.match(/^ib_/)
    expect(trailers.get('etag')).to.deep.equal([answer?.['etag']])
    expect((await served.specimens.get('w1', INSIDE)).title).to.equal('Marble')
    expect([await exists('w1-a'), await exists('w1-b'), committed]).to.deep.equal([true, true, ['create']])
  })

  it('is the same over HTTP', async () => {
    const response = await fetch(
      `${served.http}/v1/specimens?specimen_id=w2`,
      post(ALICE, { title: ' Chalk ', code: 'w2' }),
    )
    expect(response.status).to.equal(200)
    expect(await response.json()).to.include({ id: 'w2', title: 'Chalk!' })
    const refused = await fetch(`${served.http}/v1/specimens`, post(ALICE, { title: 'fails', code: 'w2f' }))
    expect([refused.status, await exists('w2f')]).to.deep.equal([409, false])
  })

  it('leaves nothing behind when it throws in its transaction', async () => {
    const { code, details } = await unary('CreateSpecimen', made('fails', 'w3'))
    expect([code, details]).to.deep.equal([10, 'after everything was written'])
    for (const id of ['w3', 'w3-a', 'w3-b']) expect(await exists(id)).to.equal(false)
    expect([ran, committed]).to.deep.equal([['create'], []])
  })

  it('keeps what the standard method wrote when it throws without one', async () => {
    await unary('CreateSpecimen', made('Marble', 'w4'))
    const { code } = await unary('UpdateSpecimen', update('w4', 'fails'))
    expect([code, (await served.specimens.get('w4', INSIDE)).title]).to.deep.equal([10, 'fails'])
  })

  it('may leave the standard method out, or call it twice', async () => {
    const { answer } = await unary('CreateSpecimen', made('never', 'w5'))
    expect(answer).to.include({ id: 'never', title: 'made by hand' })
    expect(await exists('w5')).to.equal(false)
    await unary('CreateSpecimen', made('Marble', 'w5'))
    const twice = await unary('UpdateSpecimen', update('w5', 'twice'), { 'if-match': await etagOf('w5') })
    expect(twice.answer).to.include({ title: 'twice again' })
  })

  it('runs all of it for validate_only, and keeps nothing', async () => {
    const { answer, code } = await unary('CreateSpecimen', made('Marble', 'w6', { validate_only: true }))
    expect(code).to.equal(0)
    expect(answer).to.include({ id: 'w6', title: 'Marble!', api_key: '' })
    expect([ran, committed]).to.deep.equal([['create'], []])
    for (const id of ['w6', 'w6-a', 'w6-b']) expect(await exists(id)).to.equal(false)
    await unary('CreateSpecimen', made('Marble', 'w6'))
    const updated = await unary('UpdateSpecimen', update('w6', 'twice', { validate_only: true }))
    expect(updated.answer).to.include({ title: 'twice again' })
    expect((await served.specimens.get('w6', INSIDE)).title).to.equal('Marble')
    const failing = await unary('CreateSpecimen', made('fails', 'w7', { validate_only: true }))
    expect(failing.code).to.equal(10)
    expect(committed).to.deep.equal(['create'])
  })

  it('compares If-Match before it runs', async () => {
    await unary('CreateSpecimen', made('Marble', 'w8'))
    ran.length = 0
    for (const title of ['Slate', 'never', 'twice']) {
      const { code } = await unary('UpdateSpecimen', update('w8', title), { 'if-match': '"stale"' })
      expect([title, code]).to.deep.equal([title, 9])
    }
    const inBody = { ...update('w8', 'never'), specimen: { id: 'w8', title: 'never', etag: 'stale' } }
    expect((await unary('UpdateSpecimen', inBody)).code).to.equal(9)
    expect((await unary('UpdateSpecimen', update('nobody', 'never'), { 'if-match': '*' })).code).to.equal(5)
    expect((await unary('DeleteSpecimen', { id: 'w8', etag: 'stale' })).code).to.equal(9)
    expect((await unary('GetSpecimen', { id: 'w8' }, { 'if-match': '"stale"' })).code).to.equal(9)
    expect(ran).to.deep.equal([])
    expect((await served.specimens.get('w8', INSIDE)).title).to.equal('Marble')
    const onCreate = await unary('CreateSpecimen', made('Marble', 'w9'), { 'if-match': '"a"' })
    expect([onCreate.code, await exists('w9')]).to.deep.equal([3, false])
  })

  it('goes on after its own writes where If-Match held', async () => {
    await unary('CreateSpecimen', made('Marble', 'w10'))
    expect((await unary('DeleteSpecimen', { id: 'w10', etag: await etagOf('w10') })).code).to.equal(0)
    ran.length = 0
    expect((await unary('UndeleteSpecimen', { id: 'w10', etag: 'stale' })).code).to.equal(9)
    expect(ran).to.deep.equal([])
    const [deleted] = (await served.specimens.list({ filter: 'code = "w10"', showDeleted: true }, INSIDE))
      .items
    const back = await unary('UndeleteSpecimen', { id: 'w10', etag: deleted?.etag })
    expect(back.answer).to.include({ id: 'w10', title: 'last words' })
    expect((await unary('UndeleteSpecimen', { id: 'w10' }, { 'if-match': '*' })).code).to.equal(5)
    expect(ran).to.deep.equal(['undelete'])
  })

  it('runs once under one idempotency key, and shows the token once', async () => {
    const headers = { 'idempotency-key': 'wrapped-1' }
    const first = await unary('CreateSpecimen', made('Marble', 'w11'), headers)
    const again = await unary('CreateSpecimen', made('Marble', 'w11'), headers)
    expect(first.answer?.['api_key']).to.match(/^ib_/)
    expect(again.answer).to.include({ id: 'w11', title: 'Marble!', api_key: '' })
    expect(ran).to.deep.equal(['create'])
  })

  it('returns what the read mask names', async () => {
    const { answer } = await unary('GetSpecimen', { id: 'w11', read_mask: { paths: ['title'] } })
    expect(answer).to.include({ id: '', title: 'Marble' })
    const { answer: list } = await unary('ListSpecimens', { read_mask: { paths: ['title'] }, page_size: 1 })
    expect((list?.['specimens'] as object[])[0]).to.include({ id: '', title: 'Marble' })
  })

  it('still asks for an update mask', async () => {
    expect((await unary('UpdateSpecimen', { specimen: { id: 'w11', title: 'x' } })).code).to.equal(3)
    expect(ran).to.deep.equal([])
  })

  it('asks the standard method in the context around it', async () => {
    const globex = new RequestContext({
      principal: { subject: 'g', tenant: 'globex', groups: [], scopes: [] },
    })
    await served.specimens.create({ id: 'globex-1', title: 'Theirs', code: 'globex-1' }, { context: globex })
    expect((await unary('GetSpecimen', { id: 'globex-1' })).answer).to.include({ title: 'Theirs' })
  })

  it('is a caller of its tenant, like any other', async () => {
    const bob = { 'account-id': 'globex', subject: 'bob', groups: 'makers' }
    const { code } = await served.client.unary('UpdateSpecimen', update('w11', 'twice'), bob)
    expect(code).to.equal(5)
    expect((await served.client.unary('CreateSpecimen', made('x', 'w12'))).code).to.equal(7)
  })
})

describeOn('a wrapped method whose statements fail', databases, (backend) => {
  let served: Served
  before(async () => {
    served = await serveSpecimens(backend, (specimens: Repository<Specimen>) => ({
      createSpecimen: wrapped({ transaction: true }, async (request, _call, standard) => {
        await specimens.create({ id: 'before', title: 'before', code: 'before' })
        const created = await standard(request)
        await specimens.update('before', { title: created.id }, ['title'])
        return created
      }),
    }))
  })
  after(() => served?.stop())

  it('writes all of it or nothing, whichever statement fails', async () => {
    const { specimens, client, dataSource } = served
    const left = () => specimens.list({ showDeleted: true }, INSIDE)
    const prepare = async () => {
      await RequestContext.asSystem(async () => {
        await dataSource!.query(`DELETE FROM specimens`)
      })
    }
    const create = async () => {
      const { code } = await client.unary('CreateSpecimen', made('Marble', 'made'), ALICE)
      if (code !== 0) throw new Aborted(`code ${code}`)
    }
    const sent = await everyStatementMayFail(dataSource!, prepare, create, async (outcome) => {
      const titles = (await left()).items.map(({ title }) => title).sort()
      expect(titles).to.deep.equal(outcome === 'failed' ? [] : ['Marble', 'made'])
    })
    expect(sent).to.be.greaterThan(4)
  })
})

describe('wrapped', () => {
  const problemOf = async (register: Parameters<typeof startServer>[0]): Promise<string> => {
    const error = await rejection(startServer(register), DeclarationError)
    return error.message
  }
  const echo = wrapped({}, (_request: never, _call, _standard): never => {
    throw new TypeError('never runs')
  }) as never

  it('is refused at the start where no repository is registered', async () => {
    expect(
      await problemOf((builder) => builder.register(EchoService, partly(EchoService, { echo, count: echo }))),
    )
      .to.include(
        'specimens.v1.EchoService.Echo: echo is wrapped, but no repository is registered with it: pass one, or use a plain function',
      )
      .and.include('specimens.v1.EchoService.Count: count is wrapped, but no repository')
  })

  it('is refused at the start on what the repository does not implement', async () => {
    const notes = new (memoryRepositoryOf(Note))()
    expect(
      await problemOf((builder) => builder.register(SpecimenService, notes, { getSpecimen: echo })),
    ).to.include(
      'specimens.v1.SpecimenService.GetSpecimen: getSpecimen is wrapped, but no repository implements it, because "Specimen" is not Note',
    )
    const custom = await problemOf((builder) =>
      builder.register(EchoService, notes as never, { chat: echo, ping: echo }),
    )
    expect(custom)
      .to.include('EchoService.Chat: chat is wrapped, but no repository implements it')
      .and.include('EchoService.Ping: ping is wrapped, but no repository implements it')
  })

  it('is refused at the start where it is also marked', async () => {
    const notes = new (memoryRepositoryOf(Note))()
    for (const getNote of [
      supportsValidateOnly(wrapped({}, () => ({})) as never),
      wrapped(
        {},
        supportsIfMatch(() => ({})),
      ) as never,
    ])
      expect(await problemOf((builder) => builder.register(NoteService, notes, { getNote }))).to.include(
        'NoteService.GetNote: getNote is wrapped, which handles validate_only, If-Match and row-level decisions: remove',
      )
  })

  it('is called by a server alone', () => {
    expect(() => (echo as (request: object) => void)({})).to.throw(TypeError, 'must be registered')
  })
})
