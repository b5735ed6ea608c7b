import { expect } from 'chai'
import { status } from '@grpc/grpc-js'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../decorators/resource.js'
import { RequestContext } from '../../lib/context.js'
import { MemoryRepository } from '../../lib/persistence/memory/memory-repository.js'
import { CredentialMinter } from '../../lib/secrets/credential-minter.js'
import { niceGrpcMiddleware } from '../../lib/server/grpc/nice-middleware.js'
import { ServerBuilder } from '../../lib/server/server-builder.js'
import type { UserInterceptor } from '../../lib/server/chain/user-interceptor.js'
import { ForeignClient } from '../support/grpc/clients.js'
import { EchoService, NoteSchema, NoteService, SpecimenService } from '../support/gen/specimens_pb.js'
import { ALICE, recordingLogger, type RunningServer, startServer } from '../support/servers/server.js'
import { Note, Specimen } from '../support/entities/specimen.js'
import { echoService } from '../support/grpc/echo.js'

@Resource({ message: NoteSchema, shared: true })
@Entity('other_notes')
class NoteTwin {
  @PrimaryColumn() name!: string
  @Column() text!: string
  @Column() stars!: number
}

/** Everything by which a client might claim to be somebody. */
const CLAIMS: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'account-id': 'acme' },
  { 'account-id': 'acme', subject: 'alice', groups: 'makers' },
  { 'account-id': '*', tenant: 'acme', 'x-tenant-id': 'acme' },
  { authorization: 'Bearer acme' },
]

describe('a public method without a principal', () => {
  const specimens = new MemoryRepository(Specimen, { minter: new CredentialMinter() })
  let running: RunningServer
  let client: ForeignClient

  before(async () => {
    await RequestContext.as({ tenant: 'acme' }, () => specimens.create({ id: 'theirs', code: 'c' }))
    const ping = async () => ({ text: String((await specimens.list()).items.length) })
    running = await startServer((builder) => builder.register(EchoService, { ...echoService, ping }), {
      principalFunc: undefined as never,
    })
    client = new ForeignClient(EchoService, running.grpc)
  })
  after(async () => {
    client.close()
    await running.stop()
  })

  for (const claims of CLAIMS)
    it(`reaches no tenant's row with ${JSON.stringify(claims)}`, async () => {
      const outcome = await client.unary('Ping', {}, claims)
      expect(status[outcome.code]).to.equal('PERMISSION_DENIED')
      const response = await fetch(`${running.http}/v1/ping`, { headers: claims })
      expect(response.status).to.equal(403)
      expect(await response.text()).to.not.include('theirs')
    })
})

describe('two entities of one message', () => {
  it('are refused before anything is bound', async () => {
    const server = new ServerBuilder({ grpcAddr: '127.0.0.1:0', logger: recordingLogger() })
      .register(NoteService, new MemoryRepository(Note))
      .register(EchoService, new MemoryRepository(NoteTwin), echoService)
      .build()
    const outcome = await server.serve(new AbortController().signal).catch((error: Error) => error.message)
    expect(outcome).to.include('specimens.v1.Note is the message of two entities, Note and NoteTwin')
    expect(server.grpcAddr()).to.equal('')
  })
})

describe('an interceptor', () => {
  it('reaches no row of another tenant by saying that somebody else calls', async () => {
    const specimens = new MemoryRepository(Specimen, { minter: new CredentialMinter() })
    const theirs = { tenant: 'globex', subject: 'bob', groups: [], scopes: [] }
    await RequestContext.as(theirs, () => specimens.create({ id: 'theirs', code: 'c' }))
    const pretending: readonly UserInterceptor[] = [
      (call, next) => {
        Reflect.set(call, 'principal', theirs)
        call.metadata.set('account-id', 'globex')
        return next()
      },
      (_call, next) => RequestContext.as(theirs, () => next()),
      niceGrpcMiddleware(async function* (call, context) {
        context.metadata.set('account-id', 'globex')
        return yield* call.next(call.request as never, context)
      }),
    ]
    for (const interceptor of pretending) {
      const weighSpecimen = async ({ id }: { id: string }) =>
        specimens.model.toMessage(await specimens.get(id)) as never
      const running = await startServer(
        (builder) => builder.register(SpecimenService, specimens, { weighSpecimen }),
        { interceptors: [interceptor] },
      )
      const client = new ForeignClient(SpecimenService, running.grpc)
      const codes = []
      for (const method of ['GetSpecimen', 'WeighSpecimen'])
        codes.push((await client.unary(method, { id: 'theirs' }, ALICE)).code)
      client.close()
      await running.stop()
      expect(codes).to.deep.equal([status.NOT_FOUND, status.NOT_FOUND])
    }
  })
})
