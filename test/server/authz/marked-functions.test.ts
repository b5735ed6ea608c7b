import { expect } from 'chai'
import type { ServerCall } from '../../../lib/call.js'
import { RequestContext } from '../../../lib/context.js'
import { DeclarationError } from '../../../lib/errors.js'
import { memoryRepositoryOf } from '../../../lib/persistence/index.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import type { AuthorizationRequest } from '../../../lib/server/authz/authorizer.js'
import { authorizeEntity, type Decision } from '../../../lib/server/authz/decision.js'
import {
  supportsIfMatch,
  supportsRowAccess,
  supportsValidateOnly,
} from '../../../lib/server/chain/handler.js'
import { handlerOf } from '../../../lib/server/methods/handler-of.js'
import { wrapped } from '../../../lib/server/methods/wrapped.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { Note, type Specimen } from '../../support/entities/specimen.js'
import { NoteService } from '../../support/gen/specimens_pb.js'
import type { Outcome } from '../../support/grpc/clients.js'
import { rejection } from '../../support/rejection.js'
import { startServer } from '../../support/servers/server.js'
import { serveSpecimens } from '../../support/servers/served-specimens.js'

const [OK, NOT_FOUND, DENIED, FAILED, INTERNAL] = [0, 5, 7, 9, 13] as const
const ofAnn = filter`title = ${'ann'}`
const ofAnnOrAll = filter`title = ${'ann'} OR title = ${'all'}`

type Restricted = Pick<
  Repository<Specimen>,
  'get' | 'batchGet' | 'list' | 'count' | 'exists' | 'update' | 'modify' | 'delete' | 'transaction'
>

/** What a function of its own can do with a row. */
const REACHES: Readonly<Record<string, (rows: Restricted, id: string) => Promise<unknown>>> = {
  get: (rows, id) => rows.get(id),
  batchGet: (rows, id) => rows.batchGet(['mine', id]),
  'get with a lock': (rows, id) => rows.transaction(() => rows.get(id, { lock: 'update' })),
  update: (rows, id) => rows.update(id, { count: 9 }, ['count']),
  modify: (rows, id) => rows.modify(id, ({ count }) => ({ count: count + 9 })),
  delete: (rows, id) => rows.delete(id),
  'get and update': (rows, id) =>
    rows.transaction(async () => {
      const { count } = await rows.get(id)
      await rows.update(id, { count: count + 1 }, ['count'])
    }),
}

describeOn('a function of its own whose call is decided by row', backends, (backend) => {
  let served: Awaited<ReturnType<typeof serveSpecimens>>
  let decide: (request: AuthorizationRequest) => Decision = () => true
  let act: (rows: Restricted, id: string) => Promise<unknown> = () => Promise.resolve()
  let isMarked = true
  let runs = 0
  let round = 0
  let tenant = ''

  before(async () => {
    served = await serveSpecimens(
      backend,
      (specimens) => {
        const said = (value: unknown) => ({ id: 'done', note: JSON.stringify(value ?? '', bigints) })
        return {
          // The verb `weigh`; and Undelete in its own words, with no repository named.
          weighSpecimen: supportsRowAccess(specimens, async ({ id }: { id: string }, _call, restricted) => {
            runs++
            if (id.startsWith('as-is:')) return restricted.model.toMessage(await restricted.get(id.slice(6)))
            return said(await act(restricted as never, id))
          }),
          undeleteSpecimen: supportsRowAccess(async ({ id }: { id: string }, call: ServerCall) => {
            runs++
            return said(await act(call.restricted(specimens) as never, id))
          }),
          deleteSpecimen: async () => {
            runs++
            expect(isMarked).to.equal(false)
            return {}
          },
        } as never
      },
      { authorizer: { decidesByRow: true, authorize: (request) => decide(request) } },
    )
  })
  after(() => served?.stop())
  beforeEach(async () => {
    tenant = `marked-${++round}`
    runs = 0
    isMarked = true
    await RequestContext.as({ tenant, subject: 'test' }, async () => {
      for (const [id, title] of [
        ['mine', 'ann'],
        ['mine-too', 'ann'],
        ['shared', 'all'],
        ['theirs', 'bob'],
      ] as const)
        await served.specimens.create({ id, title, code: id })
    })
  })

  const call = (method: string, id: string, headers = {}): Promise<Outcome> =>
    served.client.unary(method, { id }, { 'account-id': tenant, subject: 'ann', ...headers })
  const stored = async () => {
    const { items } = await RequestContext.as({ tenant, subject: 'test' }, () =>
      served.specimens.list({ showDeleted: true, orderBy: 'id' }),
    )
    return items.map(({ id, count, deleteTime }) => [id, count, deleteTime === undefined])
  }

  const DECISIONS: Readonly<Record<string, (request: AuthorizationRequest) => Decision>> = {
    'where for the verb': ({ verb }) => ({ where: verb === 'get' ? ofAnnOrAll : ofAnn }),
    'where for the verb, and all rows for get': ({ verb }) => verb === 'get' || { where: ofAnn },
    'authorizeEntity for the verb': ({ verb }) =>
      verb === 'get'
        ? { where: ofAnnOrAll }
        : authorizeEntity<Specimen>(({ title }) => title === 'ann', { where: ofAnnOrAll }),
    'true for the verb': ({ verb }) => (verb === 'get' ? { where: ofAnn } : true),
  }
  for (const method of ['WeighSpecimen', 'UndeleteSpecimen'])
    for (const [name, decision] of Object.entries(DECISIONS)) {
      /** Of the row `shared`, which can be got but where `true` says so for the verb. */
      const denied = name === 'true for the verb' ? NOT_FOUND : DENIED
      const hidden = name.includes('all rows') ? DENIED : NOT_FOUND

      it(`${method}, ${name}: reaches no row that is excluded, by any operation`, async () => {
        decide = decision
        const before = await stored()
        for (const [what, reach] of Object.entries(REACHES)) {
          act = reach
          for (const [id, code] of [
            ['missing', NOT_FOUND],
            ['theirs', hidden],
            ['shared', denied],
          ] as const) {
            const outcome = await call(method, id)
            expect([what, id, outcome.code, outcome.answer]).to.deep.equal([what, id, code, undefined])
          }
          expect(await stored(), what).to.deep.equal(before)
          expect([what, (await call(method, 'mine-too')).code]).to.deep.equal([what, OK])
          await served.specimens.undelete('mine-too', as()).catch(() => {})
          await served.specimens.update('mine-too', { count: 0 }, ['count'], as())
        }
      })

      it(`${method}, ${name}: counts and lists no row that is excluded`, async () => {
        decide = decision
        const seen: unknown[] = []
        act = async (rows) => {
          const { items } = await rows.list({ orderBy: 'id' })
          seen.push(
            items.map(({ id }) => id),
            await rows.count(),
            await rows.exists({ filter: 'id = "theirs"' }),
          )
        }
        expect((await call(method, 'mine')).code).to.equal(OK)
        const isByCode = name.startsWith('authorizeEntity')
        const ids = isByCode ? ['mine', 'mine-too', 'shared'] : ['mine', 'mine-too']
        expect(seen).to.deep.equal([ids, ids.length, false])
      })
    }

  it('does not run under a row filter unless it is marked', async () => {
    decide = ({ verb }) => verb === 'get' || { where: ofAnn }
    expect([(await call('DeleteSpecimen', 'theirs')).code, runs]).to.deep.equal([INTERNAL, 0])
    decide = () => true
    isMarked = false
    expect([(await call('DeleteSpecimen', 'theirs')).code, runs]).to.deep.equal([OK, 1])
  })

  it('has its response repeated only to callers who may still get the row, if its repository is named', async () => {
    decide = DECISIONS['true for the verb'] as typeof decide
    const headers = { 'idempotency-key': tenant }
    const first = await call('WeighSpecimen', 'as-is:mine', headers)
    const again = await call('WeighSpecimen', 'as-is:mine', headers)
    expect([first.code, again.code, again.answer?.['id'], runs]).to.deep.equal([OK, OK, 'mine', 1])
    expect(again.headers.get('x-idempotent-replay')).to.deep.equal(['true'])
    await served.specimens.update('mine', { title: 'bob' }, ['title'], as())
    const hidden = await call('WeighSpecimen', 'as-is:mine', headers)
    expect([hidden.code, hidden.answer, runs]).to.deep.equal([NOT_FOUND, undefined, 1])
    decide = ({ verb }) => verb !== 'get'
    expect((await call('WeighSpecimen', 'as-is:mine', headers)).code).to.equal(NOT_FOUND)
  })

  it('has no other response repeated', async () => {
    decide = DECISIONS['where for the verb'] as typeof decide
    act = () => Promise.resolve()
    const headers = { 'idempotency-key': tenant }
    expect((await call('UndeleteSpecimen', 'mine', headers)).code).to.equal(OK)
    expect([(await call('UndeleteSpecimen', 'mine', headers)).code, runs]).to.deep.equal([FAILED, 1])
  })

  const as = () => ({
    context: new RequestContext({ principal: { subject: 'test', tenant, groups: [], scopes: [] } }),
  })
})

describe('supportsRowAccess', () => {
  const notes = new (memoryRepositoryOf(Note))()
  const echo = () => (request: unknown) => request

  it('fails at startup for a wrapped function, whichever repository it names', async () => {
    const getNote = supportsRowAccess(
      notes,
      wrapped({}, (request, _call, standard) => standard(request) as never),
    )
    const starting = startServer((builder) => builder.register(NoteService, notes, { getNote } as never))
    expect((await rejection(starting, DeclarationError)).message).to.include(
      'NoteService.GetNote: getNote is wrapped, which handles row-level decisions: remove supportsRowAccess',
    )
  })

  it('keeps other marks of the function', () => {
    const handler = (fn: object) =>
      handlerOf(
        NoteService.method.getNote,
        { implementation: { getNote: fn } },
        { maxTotalSize: 10, maxPageBytes: 1_000, maxResponseBytes: 1_000 },
      )
    const marked = supportsRowAccess(notes, supportsIfMatch(supportsValidateOnly(echo())))
    const facts = { supportsIfMatch: true, supportsValidateOnly: true, rowAccess: 'restricted' }
    expect(handler(marked)).to.include(facts)
    expect(handler(supportsIfMatch(supportsValidateOnly(supportsRowAccess(notes, echo()))))).to.include(facts)
    expect(handler(echo())).to.include({
      supportsIfMatch: false,
      supportsValidateOnly: false,
      rowAccess: 'none',
    })
  })
})

const bigints = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
