import { expect } from 'chai'
import type { ServerCall } from '../../../lib/call.js'
import { RequestContext } from '../../../lib/context.js'
import { DeclarationError, ErrNotFound, InvalidArgument } from '../../../lib/errors.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import type { ReadOptions } from '../../../lib/persistence/contract/repository.js'
import { type Filter, filter } from '../../../lib/persistence/query/filter-template.js'
import type { AuthorizationRequest } from '../../../lib/server/authz/authorizer.js'
import { authorizeEntity, type Decision, type Restriction } from '../../../lib/server/authz/decision.js'
import { supportsRowAccess } from '../../../lib/server/chain/handler.js'
import { wrapped } from '../../../lib/server/methods/wrapped.js'
import { RestrictedRepository } from '../../../lib/server/row-access/restricted-repository.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { Note, Specimen } from '../../support/entities/specimen.js'
import type { Outcome } from '../../support/grpc/clients.js'
import { EchoService, NoteService } from '../../support/gen/specimens_pb.js'
import { rejection } from '../../support/rejection.js'
import { serveSpecimens } from '../../support/servers/served-specimens.js'
import { partly, startServer } from '../../support/servers/server.js'

/** Rows are whoever's their title says. */
const ownedBy = (one: string, other = one): Filter => filter`title = ${one} OR title = ${other}`

const [OK, INVALID, NOT_FOUND, EXISTS, DENIED, FAILED, INTERNAL] = [0, 3, 5, 6, 7, 9, 13] as const

describeOn('row-level authorization', backends, (backend) => {
  let served: Awaited<ReturnType<typeof serveSpecimens>>
  let decide: (request: AuthorizationRequest) => Decision | Promise<Decision> = () => true
  const wraps = { isOn: false, throws: false }
  let round = 0
  let tenant = ''

  before(async () => {
    served = await serveSpecimens(
      backend,
      (specimens) => ({
        weighSpecimen: supportsRowAccess(async ({ id }: { id: string }, call: ServerCall) =>
          specimens.model.toMessage(await call.restricted(specimens).update(id, { count: 9 }, ['count'])),
        ) as never,
        undeleteSpecimen: wrapped({ transaction: true }, (request, _call, standard) => standard(request)),
      }),
      // What is told in development is the same as well.
      { authorizer: { decidesByRow: true, authorize: (request) => decide(request) }, explainDenials: true },
    )
  })
  after(() => served.stop())
  beforeEach(async () => {
    tenant = `rows-${++round}`
    decide = () => true
    Object.assign(wraps, { isOn: false, throws: false })
    await inTenant(async () => {
      for (const [id, title] of [
        ['mine', 'ann'],
        ['mine-too', 'ann'],
        ['shared', 'all'],
        ['theirs', 'bob'],
      ] as const)
        await served.specimens.create({ id, title, code: id })
    })
  })

  const inTenant = <T>(fn: () => Promise<T>) => RequestContext.as({ tenant, subject: 'test' }, fn)
  const stored = (id: string) => inTenant(() => served.specimens.get(id))
  const call = (method: string, request: object, headers: object = {}): Promise<Outcome> =>
    served.client.unary(method, request, { 'account-id': tenant, subject: 'ann', ...headers })
  const update = (id: string, more: object = {}, mask = ['count']) =>
    call('UpdateSpecimen', { specimen: { id, count: 5, ...more }, update_mask: { paths: mask } })
  const item = (id: string) => ({ specimen: { id, count: 5 }, update_mask: { paths: ['count'] } })
  /** Gets hers and what is shared, changes hers. */
  const annOnly = ({ verb }: AuthorizationRequest): Decision =>
    verb === 'get' || verb === 'list' ? { where: ownedBy('ann', 'all') } : { where: ownedBy('ann') }
  const annByCode = ({ verb }: AuthorizationRequest): Decision =>
    authorizeEntity<Specimen>(
      ({ title }, { principal }) => title === principal.subject || (verb === 'get' && title === 'all'),
    )

  /** Each method about one row. */
  const about: Readonly<Record<string, (id: string) => Promise<Outcome>>> = {
    GetSpecimen: (id) => call('GetSpecimen', { id }),
    BatchGetSpecimens: (id) => call('BatchGetSpecimens', { ids: ['mine', id] }),
    UpdateSpecimen: (id) => update(id),
    'UpdateSpecimen with another etag': (id) => update(id, { etag: '"other"' }),
    'UpdateSpecimen with several etags': (id) =>
      call('UpdateSpecimen', item(id), { 'if-match': '"one", "two"' }),
    BatchUpdateSpecimens: (id) => call('BatchUpdateSpecimens', { requests: [item('mine'), item(id)] }),
    DeleteSpecimen: (id) => call('DeleteSpecimen', { id }),
    'DeleteSpecimen with another etag': (id) => call('DeleteSpecimen', { id, etag: '"other"' }),
    BatchDeleteSpecimens: (id) => call('BatchDeleteSpecimens', { ids: ['mine', id] }),
    WeighSpecimen: (id) => call('WeighSpecimen', { id }),
  }
  const READS = ['GetSpecimen', 'BatchGetSpecimens']

  for (const [form, decision] of [
    ['where', annOnly],
    ['authorizeEntity', annByCode],
  ] as const)
    describe(`of the form ${form}`, () => {
      for (const [name, reach] of Object.entries(about)) {
        it(`${name} does not distinguish an excluded row from a missing one or another tenant's`, async () => {
          decide = decision
          const missing = await reach('missing')
          const excluded = await reach('theirs')
          const own = tenant
          tenant = 'nobody-else'
          const foreign = await reach('theirs')
          tenant = own
          const said = missing.details.replace('missing', 'theirs')
          for (const { code, details } of [excluded, foreign])
            expect([code, details]).to.deep.equal([NOT_FOUND, said])
          expect(withoutRequestId(excluded)).to.deep.equal(withoutRequestId(foreign))
          expect([...Object.keys(excluded.headers.getMap())].sort()).to.deep.equal(
            [...Object.keys(missing.headers.getMap())].sort(),
          )
          expect(excluded.headers.get('x-denied-because')).to.deep.equal(
            missing.headers.get('x-denied-because'),
          )
          expect((await stored('mine')).count).to.equal(0)
        })

        if (!READS.includes(name))
          it(`${name} is denied for a row that may be read and not changed, and changes nothing`, async () => {
            decide = decision
            expect((await reach('shared')).code).to.equal(DENIED)
            expect((await stored('shared')).count).to.equal(0)
            expect((await stored('mine')).count).to.equal(0)
          })

        it(`${name} succeeds for a row that it may change`, async () => {
          decide = decision
          const { code } = await reach('mine-too')
          expect(code).to.equal(name.includes(' ') ? FAILED : OK)
        })
      }

      it('undelete reaches only the included deleted rows', async () => {
        await inTenant(() => served.specimens.batchDelete(['mine', 'shared', 'theirs']))
        decide = decision
        const undelete = async (id: string) => (await call('UndeleteSpecimen', { id })).code
        expect(await undelete('theirs')).to.equal(NOT_FOUND)
        expect(await undelete('missing')).to.equal(NOT_FOUND)
        expect(await undelete('shared')).to.equal(DENIED)
        expect(await undelete('mine-too')).to.equal(NOT_FOUND)
        expect(await undelete('mine')).to.equal(OK)
        await inTenant(() => rejection(served.specimens.get('shared'), ErrNotFound))
      })

      it('create and update are rolled back if they wrote an excluded row', async () => {
        decide = decision
        const create = (id: string, title: string) =>
          call('CreateSpecimen', { specimen_id: id, specimen: { title, code: id } })
        expect((await create('a', 'ann')).code).to.equal(OK)
        expect((await create('b', 'bob')).code).to.equal(DENIED)
        expect((await update('mine', { title: 'bob' }, ['title'])).code).to.equal(DENIED)
        const moved = { specimen: { id: 'mine', title: 'bob' }, update_mask: { paths: ['title'] } }
        expect((await call('BatchUpdateSpecimens', { requests: [item('mine-too'), moved] })).code).to.equal(
          DENIED,
        )
        await inTenant(() => rejection(served.specimens.get('b'), ErrNotFound))
        expect((await stored('mine')).title).to.equal('ann')
        expect((await stored('mine-too')).count).to.equal(0)
      })

      it('check decides about the written row instead', async () => {
        const check = ({ title }: Specimen) => Promise.resolve(title !== 'bob')
        decide = (request) => {
          if (request.verb === 'get') return decision(request)
          return form === 'where' ? { where: ownedBy('ann'), check } : authorizeEntity(() => true, { check })
        }
        expect((await update('mine', { title: 'all' }, ['title'])).code).to.equal(OK)
        expect((await update('mine-too', { title: 'bob' }, ['title'])).code).to.equal(DENIED)
        const specimen = { title: 'bob', code: 'x' }
        expect((await call('CreateSpecimen', { specimen_id: 'x', specimen })).code).to.equal(DENIED)
        await inTenant(() => rejection(served.specimens.get('x'), ErrNotFound))
      })

      it('validate_only returns what the call would, and writes nothing', async () => {
        decide = decision
        const dry = async (id: string, title = 'ann') =>
          (
            await call('UpdateSpecimen', {
              specimen: { id, title },
              update_mask: { paths: ['title'] },
              validate_only: true,
            })
          ).code
        expect([await dry('mine'), await dry('mine', 'bob')]).to.deep.equal([OK, DENIED])
        expect([await dry('shared'), await dry('theirs')]).to.deep.equal([DENIED, NOT_FOUND])
        expect([(await stored('mine')).title, (await stored('shared')).title]).to.deep.equal(['ann', 'all'])
      })

      it('a stored response is not returned to a caller who may no longer get the row', async () => {
        const request = { specimen_id: 'n', specimen: { title: 'ann', code: 'n' }, request_id: `r-${tenant}` }
        decide = decision
        const first = await call('CreateSpecimen', request)
        expect(first.code).to.equal(OK)
        const again = await call('CreateSpecimen', request)
        expect([again.code, again.answer?.['id']]).to.deep.equal([OK, 'n'])
        expect(again.headers.get('x-idempotent-replay')).to.deep.equal(['true'])
        await inTenant(() => served.specimens.update('n', { title: 'bob' }, ['title']))
        const hidden = await call('CreateSpecimen', request)
        expect([hidden.code, hidden.headers.get('x-idempotent-replay')]).to.deep.equal([NOT_FOUND, []])
        await inTenant(() => served.specimens.update('n', { title: 'ann' }, ['title']))
        await inTenant(() => served.specimens.delete('n'))
        expect((await call('CreateSpecimen', request)).code).to.equal(OK)
        // Allowed as a whole, restricted by what can be got.
        decide = ({ verb }) => (verb === 'create' ? true : { where: ownedBy('bob') })
        expect((await call('CreateSpecimen', request)).code).to.equal(NOT_FOUND)
      })

      it('a stored response of an update or a delete reveals no more than the call itself would now', async () => {
        decide = decision
        const key = (name: string) => ({ 'idempotency-key': `${name}-${tenant}` })
        const put = (id: string) =>
          call('UpdateSpecimen', item(id), key(`update-${id}`)).then(({ code, answer }) => [
            code,
            (answer?.['count'] as number | undefined) ?? '',
          ])
        const remove = (id: string) => call('DeleteSpecimen', { id }, key(`delete-${id}`))
        expect([await put('mine'), await put('mine')]).to.deep.equal([
          [OK, 5],
          [OK, 5],
        ])
        // Errors are kept for nobody, and tell the same each time.
        for (const [id, code] of [
          ['shared', DENIED],
          ['theirs', NOT_FOUND],
          ['missing', NOT_FOUND],
        ] as const)
          for (let times = 0; times < 2; times++)
            expect([(await put(id))[0], (await remove(id)).code]).to.deep.equal([code, code])
        // The row leaves what the caller may get.
        await inTenant(() => served.specimens.update('mine', { title: 'bob' }, ['title']))
        expect(await put('mine')).to.deep.equal([NOT_FOUND, ''])
        expect((await remove('mine-too')).code).to.equal(OK)
        const again = await remove('mine-too')
        expect([again.code, again.headers.get('x-idempotent-replay')]).to.deep.equal([OK, ['true']])
        // A caller who may get nothing is told nothing, the end of an own call included.
        decide = ({ verb }) => verb !== 'get'
        expect([(await remove('mine-too')).code, (await put('mine'))[0]]).to.deep.equal([
          NOT_FOUND,
          NOT_FOUND,
        ])
        decide = () => false
        expect((await remove('mine-too')).code).to.equal(DENIED)
        // Another caller of the tenant with the same key has a call of its own.
        decide = decision
        const bobs = await call('UpdateSpecimen', item('mine-too'), { ...key('update-mine'), subject: 'bob' })
        expect([bobs.code, bobs.answer]).to.deep.equal([NOT_FOUND, undefined])
      })

      it('a read mask does not change what the authorizer decides about', async () => {
        decide = decision
        const read = (id: string) => call('GetSpecimen', { id, read_mask: { paths: ['id'] } })
        expect((await read('theirs')).code).to.equal(NOT_FOUND)
        const { answer } = await read('mine')
        expect([answer?.['id'], answer?.['title']]).to.deep.equal(['mine', ''])
      })
    })

  it('lists the rows of its predicate on full pages, which no filter, order or search reaches out of', async () => {
    decide = annOnly
    const list = async (request: object) => {
      const { code, answer } = await call('ListSpecimens', request)
      expect(code).to.equal(OK)
      const { specimens, next_page_token: token } = answer as {
        specimens: { id: string }[]
        next_page_token: string
      }
      return [specimens.map(({ id }) => id), token] as const
    }
    const [first, token] = await list({ page_size: 2 })
    expect(first).to.deep.equal(['mine', 'mine-too'])
    expect(await list({ page_size: 2, page_token: token })).to.deep.equal([['shared'], ''])
    for (const filter of [
      'title = "bob"',
      'NOT title = "ann" AND NOT title = "all"',
      'id = "theirs" OR id = "x"',
    ])
      expect(await list({ filter })).to.deep.equal([[], ''])
    expect((await list({ order_by: 'title desc', page_size: 2 }))[0]).to.deep.equal(['mine-too', 'mine'])
    // A grant that changes between two pages takes effect.
    decide = () => ({ where: ownedBy('bob') })
    expect(await list({ page_size: 2, page_token: token })).to.deep.equal([['theirs'], ''])
    decide = ({ verb }) => (verb === 'list' ? authorizeEntity(() => true, { where: ownedBy('bob') }) : true)
    expect((await list({}))[0]).to.deep.equal(['theirs'])
  })

  it('a list whose authorizer has code alone is Internal, and logged by name', async () => {
    decide = annByCode
    expect((await call('ListSpecimens', {})).code).to.equal(INTERNAL)
    expect(JSON.stringify(served.records.at(-2), bigints)).to.not.include('"code":"OK"')
    const said = served.records.map(({ fields }) => String((fields['err'] as Error | undefined)?.message))
    expect(said.some((text) => text.includes('authorizeEntity for a list of specimen'))).to.equal(true)
  })

  it('a row that may not be read may not be changed, whatever the other verbs allow', async () => {
    for (const get of [{ where: ownedBy('ann') }, false] as const) {
      decide = ({ verb }) => (verb === 'get' ? get : true)
      expect((await update('theirs')).code).to.equal(NOT_FOUND)
      expect((await call('DeleteSpecimen', { id: 'theirs' })).code).to.equal(NOT_FOUND)
    }
    decide = ({ verb }) => (verb === 'get' ? { where: ownedBy('ann') } : { where: ownedBy('bob') })
    expect((await update('theirs')).code).to.equal(NOT_FOUND)
    expect((await update('mine')).code).to.equal(DENIED)
    expect((await stored('theirs')).count).to.equal(0)
  })

  it('reports that a taken id exists, and nothing about the row', async () => {
    decide = annOnly
    const specimen = { title: 'ann', code: 'new' }
    const { code, details } = await call('CreateSpecimen', { specimen_id: 'theirs', specimen })
    expect([code, details]).to.deep.equal([EXISTS, 'Specimen "theirs" already exists'])
  })

  it('reports that a deleted row has the id, if the caller may list that row', async () => {
    for (const id of ['mine', 'theirs']) await inTenant(() => served.specimens.delete(id))
    const specimen = { title: 'ann', code: 'new' }
    const told = async (id: string) => (await call('CreateSpecimen', { specimen_id: id, specimen })).details
    for (const [list, mine, theirs] of [
      [{ where: ownedBy('ann') }, true, false],
      [true, true, true],
      [false, false, false],
      [authorizeEntity(() => true), false, false],
    ] as const) {
      decide = ({ verb }) => (verb === 'list' ? list : true)
      const text = (id: string, isTold: boolean) =>
        `Specimen "${id}" already exists${isTold ? ', and is deleted' : ''}`
      expect([await told('mine'), await told('theirs')]).to.deep.equal([
        text('mine', mine),
        text('theirs', theirs),
      ])
    }
  })

  for (const [what, decision] of [
    ['undefined', undefined],
    ['null', null],
    ['a truthy text', 'yes'],
    ['1', 1],
  ] as const)
    it(`${what} allows nothing`, async () => {
      decide = () => decision as never
      expect((await call('GetSpecimen', { id: 'mine' })).code).to.equal(DENIED)
    })

  for (const result of [undefined, null, 'yes', 1])
    it(`a function of authorizeEntity that returns ${String(result)} allows nothing`, async () => {
      const check = () => true
      for (const options of [{}, { check }, { where: ownedBy('ann'), check }]) {
        decide = ({ verb }) => verb === 'get' || authorizeEntity(() => result as never, options)
        expect((await update('mine')).code).to.equal(DENIED)
        expect((await call('BatchDeleteSpecimens', { ids: ['mine', 'mine-too'] })).code).to.equal(DENIED)
        expect((await call('DeleteSpecimen', { id: 'mine' })).code).to.equal(DENIED)
      }
      expect((await stored('mine')).count).to.equal(0)
      decide = ({ verb }) => (verb === 'get' ? authorizeEntity(() => result as never) : true)
      expect((await call('DeleteSpecimen', { id: 'mine' })).code).to.equal(NOT_FOUND)
    })

  for (const [what, decision] of [
    ['an object without where', {}],
    ['a blank predicate', { where: '' }],
    ['a predicate that is not a string', { where: { title: 'ann' } }],
    ['a predicate about another resource', { where: filter`stars = 1` }],
  ] as const)
    it(`${what} is Internal`, async () => {
      for (const decided of [decision, Promise.resolve(decision)]) {
        decide = () => decided as never
        expect((await call('GetSpecimen', { id: 'mine' })).code).to.equal(INTERNAL)
        expect((await update('mine')).code).to.equal(INTERNAL)
        expect((await call('ListSpecimens', {})).code).to.equal(INTERNAL)
      }
    })

  it('reports an etag mismatch only for a row that may be changed', async () => {
    decide = annOnly
    const codes = ['mine', 'shared', 'theirs', 'missing'].map(
      async (id) => (await update(id, { etag: '"other"' })).code,
    )
    expect(await Promise.all(codes)).to.deep.equal([FAILED, DENIED, NOT_FOUND, NOT_FOUND])
    expect((await update('mine', { count: 'x' as never })).code).to.be.oneOf([OK, INVALID, INTERNAL])
  })
})

const bigints = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)

describe('an authorizer that returns row filters', () => {
  const byRow = { decidesByRow: true, authorize: () => ({ where: ownedBy('ann') }) }

  it('fails at startup for a repository that cannot restrict rows, and names it', async () => {
    class OwnNotes extends MemoryRepository<Note> {}
    const notes = new OwnNotes(Note)
    Object.defineProperty(notes, 'carriesDecisions', { value: undefined })
    const starting = startServer((builder) => builder.register(NoteService, notes), { authorizer: byRow })
    const { message } = await rejection(starting, DeclarationError)
    expect(message).to.include('OwnNotes, the repository of note, cannot restrict rows')
  })

  it('holds where an overridden operation drops its options, and is Internal where it returns without one', async () => {
    class Dropping extends MemoryRepository<Note> {
      override get(key: string) {
        return super.get(key)
      }
      override async delete(key: string) {
        await super.update(key, { stars: 1 }, ['stars'])
      }
      override update(key: string, note: Partial<Note>, mask?: readonly string[]) {
        return super.update(key, note, mask)
      }
    }
    const notes = new Dropping(Note)
    for (const text of ['ann', 'bob']) await notes.create({ name: `notes/${text}`, text })
    const where = filter`text = "ann"`
    const running = await startServer((builder) => builder.register(NoteService, notes), {
      authorizer: { decidesByRow: true, authorize: () => ({ where }) },
    })
    try {
      const headers = { 'account-id': 'acme', subject: 'ann', 'content-type': 'application/json' }
      const send = async (path: string, method: string, body?: string) =>
        (await fetch(`${running.http}/v1/notes${path}`, { method, headers, ...(body && { body }) })).status
      expect([await send('/ann', 'GET'), await send('/bob', 'GET')]).to.deep.equal([200, 404])
      expect(await send('/ann', 'DELETE')).to.equal(500)
      expect((await notes.get('notes/ann')).stars).to.equal(0)
      const patch = (name: string) => send(`/${name}?update_mask=stars`, 'PATCH', '{"stars":2}')
      expect([await patch('ann'), await patch('bob')]).to.deep.equal([200, 404])
      const said = running.records.map(({ fields }) => String((fields['err'] as Error | undefined)?.message))
      expect(said.some((line) => line.includes('Dropping.delete returned without super.delete'))).to.equal(
        true,
      )
    } finally {
      await running.stop()
    }
  })

  it('returns what an override throws before it calls the operation', async () => {
    class Closed extends MemoryRepository<Note> {
      override get(): Promise<never> {
        return Promise.reject(new InvalidArgument('', 'the archive is closed'))
      }
      override delete(): never {
        throw new InvalidArgument('', 'notes are kept')
      }
    }
    const running = await startServer((builder) => builder.register(NoteService, new Closed(Note)), {
      authorizer: { decidesByRow: true, authorize: () => ({ where: filter`text = "ann"` }) },
    })
    try {
      const headers = { 'account-id': 'acme', subject: 'ann' }
      const send = async (method: string) =>
        (await (await fetch(`${running.http}/v1/notes/a`, { method, headers })).json()) as { message: string }
      expect((await send('GET')).message).to.equal('the archive is closed')
      expect((await send('DELETE')).message).to.equal('notes are kept')
    } finally {
      await running.stop()
    }
  })

  it('holds where modify or exists calls an overridden operation that drops its options', async () => {
    class Dropping extends MemoryRepository<Note> {
      override get(key: string) {
        return super.get(key)
      }
      override update(key: string, note: Partial<Note>, mask?: readonly string[]) {
        return super.update(key, note, mask)
      }
      override count() {
        return super.count()
      }
    }
    const notes = new Dropping(Note)
    await notes.create({ name: 'notes/a', text: 'ann' })
    const all: Restriction = { isNone: false, where: undefined, test: undefined, check: undefined }
    const decided = {
      own: all,
      readable: () => ({ ...all, where: filter`text = "bob"` }),
      explain: () => undefined,
    }
    const restricted = new RestrictedRepository(notes, decided, 'writes')
    await rejection(
      restricted.modify('notes/a', () => ({ stars: 1 })),
      ErrNotFound,
    )
    expect((await notes.get('notes/a')).stars).to.equal(0)
    expect(await restricted.exists()).to.equal(false)
  })

  it('decides about each written row, including one created between the decision and the write', async () => {
    class Late extends MemoryRepository<Note> {
      override async batchGet(keys: readonly string[], options?: ReadOptions) {
        try {
          return await super.batchGet(keys, options)
        } catch (error) {
          if (options?.lock !== undefined) await super.create({ name: keys[0] ?? '', text: 'bob' })
          throw error
        }
      }
    }
    const notes = new Late(Note)
    const asked: string[] = []
    const authorize = ({ verb }: AuthorizationRequest): Decision =>
      verb === 'get' || authorizeEntity((note: Note) => asked.push(note.text) < 0)
    const running = await startServer((builder) => builder.register(NoteService, notes), {
      authorizer: { decidesByRow: true, authorize },
    })
    try {
      const headers = { 'account-id': 'acme', subject: 'ann' }
      const { status } = await fetch(`${running.http}/v1/notes/a`, { method: 'DELETE', headers })
      expect([status, asked]).to.deep.equal([404, []])
    } finally {
      await running.stop()
    }
  })

  it('is Internal without a word that it may', async () => {
    const running = await startServer(
      (builder) => builder.register(NoteService, new MemoryRepository(Note)),
      {
        authorizer: { authorize: () => ({ where: ownedBy('ann') }) },
      },
    )
    try {
      const headers = { 'account-id': 'acme', subject: 'ann' }
      expect((await fetch(`${running.http}/v1/notes`, { headers })).status).to.equal(500)
      const said = running.records.map(({ fields }) => String((fields['err'] as Error | undefined)?.message))
      expect(said.some((line) => line.includes('set its `decidesByRow` to true'))).to.equal(true)
    } finally {
      await running.stop()
    }
  })

  it('is Internal where an implementation does not support it, and the implementation is not run', async () => {
    let runs = 0
    const running = await startServer(
      (builder) =>
        builder.register(EchoService, partly(EchoService, { echo: () => ({ text: String(++runs) }) })),
      { authorizer: byRow },
    )
    try {
      const headers = { 'account-id': 'acme', subject: 'ann', 'content-type': 'application/json' }
      const response = await fetch(`${running.http}/v1/echo`, { method: 'POST', headers, body: '{}' })
      expect([response.status, runs]).to.deep.equal([500, 0])
      const said = running.records.map(({ fields }) => String((fields['err'] as Error | undefined)?.message))
      expect(said.some((text) => text.includes('echo: supportsRowAccess(fn)'))).to.equal(true)
    } finally {
      await running.stop()
    }
  })
})

/** An error is one frame, with the headers among the trailers: the request id and the date differ. */
const withoutRequestId = ({ trailers }: Outcome): object => {
  const { 'x-request-id': _id, date: _date, ...rest } = trailers.getMap()
  return rest
}
