import { expect } from 'chai'
import type { ServerCall } from '../../../lib/call.js'
import { RequestContext } from '../../../lib/context.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import type { AuthorizationRequest } from '../../../lib/server/authz/authorizer.js'
import type { Decision } from '../../../lib/server/authz/decision.js'
import { supportsRowAccess } from '../../../lib/server/index.js'
import { type OpenSubject, openSubject } from '../../conformance/repository/open-subject.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { altered } from '../../support/grpc/altered.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { echoService } from '../../support/grpc/echo.js'
import type { Specimen } from '../../support/entities/specimen.js'
import { EchoService, SpecimenService } from '../../support/gen/specimens_pb.js'
import { ALICE, partly, startServer } from '../../support/servers/server.js'

const [OK, NOT_FOUND] = [0, 5] as const

/** Which standard methods the resource has, and what then says who may read its rows. */
const SERVED: Readonly<Record<string, { readonly methods: readonly string[]; readonly verb: string }>> = {
  'a List and no Get': { methods: ['ListSpecimens', 'UpdateSpecimen'], verb: 'list' },
  'a BatchGet and no Get': { methods: ['BatchGetSpecimens', 'ListSpecimens', 'UpdateSpecimen'], verb: 'get' },
  'writes alone': { methods: ['UpdateSpecimen', 'DeleteSpecimen'], verb: 'get' },
  'no service': { methods: [], verb: 'get' },
}

const item = (key: string) => ({ key, entity: { count: 5 }, fieldMask: ['count'] })

/** Each operation of a restricted repository about one row. */
const ABOUT: Readonly<Record<string, (specimens: Repository<Specimen>, id: string) => Promise<unknown>>> = {
  get: (specimens, id) => specimens.get(id),
  batchGet: (specimens, id) => specimens.batchGet([id]),
  update: (specimens, id) => specimens.update(id, { count: 5 }, ['count']),
  modify: (specimens, id) => specimens.modify(id, () => ({ count: 5 })),
  delete: (specimens, id) => specimens.delete(id),
  batchUpdate: (specimens, id) => specimens.batchUpdate([item(id)]),
  undelete: (specimens, id) => specimens.undelete(id),
  batchDelete: (specimens, id) => specimens.batchDelete([id]),
}

describeOn('call.restricted() of a resource without a Get', backends, (backend) => {
  let subject: OpenSubject
  let tenant = ''
  let rounds = 0
  const inTenant = <T>(fn: () => Promise<T>) => RequestContext.as({ tenant, subject: 'test' }, fn)
  before(async () => {
    subject = await openSubject(backend)
  })
  after(() => subject?.close())
  beforeEach(async () => {
    tenant = `without-get-${++rounds}`
    await inTenant(async () => {
      for (const title of ['mine', 'theirs', 'mine gone', 'theirs gone'])
        await subject.specimens.create({ id: title, code: title, title: title.split(' ')[0] as string })
      await subject.specimens.batchDelete(['mine gone', 'theirs gone'])
    })
  })

  for (const [what, { methods, verb }] of Object.entries(SERVED))
    describe(`with ${what}`, () => {
      let running: Awaited<ReturnType<typeof startServer>>
      let echo: ForeignClient
      let specimens: ForeignClient | undefined
      let act: (restricted: Repository<Specimen>) => Promise<unknown>
      let decide: (request: AuthorizationRequest) => Decision
      const mine = { where: filter`title = ${'mine'}` }

      before(async () => {
        const service = altered(SpecimenService, ({ file }) => {
          const [own] = file.service.filter(({ name }) => name === 'SpecimenService')
          if (own !== undefined) own.method = own.method.filter(({ name }) => methods.includes(name))
        })
        const run = async (_request: object, call: ServerCall) => ({
          text: String(await act(call.restricted(subject.specimens) as never)),
        })
        running = await startServer(
          (builder) => {
            if (methods.length > 0) builder.register(service, subject.specimens)
            builder.register(
              EchoService,
              partly(EchoService, { ...echoService, echo: supportsRowAccess(run) }),
            )
          },
          { authorizer: { decidesByRow: true, authorize: (request) => decide(request) } },
        )
        echo = new ForeignClient(EchoService, running.grpc)
        specimens = methods.length > 0 ? new ForeignClient(service, running.grpc) : undefined
      })
      after(async () => {
        echo?.close()
        specimens?.close()
        await running?.stop()
      })
      beforeEach(() => {
        decide = ({ verb: asked, type }) =>
          type !== 'specimen' || asked === 'update' || (asked === verb ? mine : false)
      })

      const headers = () => ({ ...ALICE, 'account-id': tenant })
      const called = async (own: typeof act) => {
        act = own
        return echo.unary('Echo', { text: 'x' }, headers())
      }

      it('reaches the rows alone that the caller may read, by every operation', async () => {
        for (const [name, run] of Object.entries(ABOUT)) {
          const gone = name === 'undelete' ? ' gone' : ''
          const codes = []
          for (const id of [`theirs${gone}`, 'nobodys', `mine${gone}`])
            codes.push((await called((restricted) => run(restricted, id))).code)
          if (name.startsWith('delete')) await inTenant(() => subject.specimens.undelete('mine'))
          expect([name, ...codes]).to.deep.equal([name, NOT_FOUND, NOT_FOUND, OK])
        }
        const { count } = await inTenant(() => subject.specimens.get('theirs'))
        expect(count).to.equal(0)
      })

      it('lists, counts and finds no other', async () => {
        const texts = [
          await called(async (restricted) => (await restricted.list()).items.map(({ id }) => id).join()),
          await called((restricted) => restricted.count()),
          await called((restricted) => restricted.exists({ filter: 'title = "theirs"' })),
        ].map(({ answer }) => answer?.['text'])
        expect(texts).to.deep.equal(['mine', '1', 'false'])
      })

      it('reaches nothing where that is denied', async () => {
        decide = ({ type, verb: asked }) => type !== 'specimen' || asked === 'update'
        expect((await called((restricted) => restricted.get('mine'))).code).to.equal(NOT_FOUND)
        expect((await called((restricted) => restricted.count())).answer?.['text']).to.equal('0')
      })

      it('updates by the standard method what its caller may read', async () => {
        if (specimens === undefined) return
        const update = async (id: string) => {
          const request = { specimen: { id, title: 'mine' }, update_mask: { paths: ['title'] } }
          return (await specimens?.unary('UpdateSpecimen', request, headers()))?.code
        }
        expect([await update('theirs'), await update('nobodys'), await update('mine')]).to.deep.equal([
          NOT_FOUND,
          NOT_FOUND,
          OK,
        ])
      })
    })
})
