import { expect } from 'chai'
import { InvalidArgument } from '../../../lib/errors.js'
import { RequestContext } from '../../../lib/context.js'
import { memoryRepositoryOf } from '../../../lib/persistence/index.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import { wrapped } from '../../../lib/server/methods/wrapped.js'
import { Specimen } from '../../support/entities/specimen.js'
import { EchoService, SpecimenService } from '../../support/gen/specimens_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { echoService } from '../../support/grpc/echo.js'
import { ALICE, partly, post, type RunningServer, startServer } from '../../support/servers/server.js'

const [OK, INVALID, INTERNAL] = [0, 3, 13] as const

let writes: readonly string[] = []
let runs: string[] = []

/** Overrides that write masks of their own. */
class Specimens extends memoryRepositoryOf(Specimen) {
  override update(...given: never[]): Promise<Specimen> {
    runs.push('update')
    const [key, entity, , options] = given as unknown as readonly [string, object, unknown, object]
    return super.update(key, entity as Specimen, writes as never, options)
  }

  override batchUpdate(...given: never[]): Promise<Specimen[]> {
    runs.push('batchUpdate')
    const [items, options] = given as unknown as readonly [readonly object[], object]
    return super.batchUpdate(items.map((item) => ({ ...item, fieldMask: writes })) as never, options)
  }
}

describe('a mask', () => {
  const specimens = new Specimens({ minter: new CredentialMinter(), encryptor: newDev(Buffer.alloc(32, 7)) })
  let running: RunningServer
  let client: ForeignClient
  let echo: ForeignClient

  before(async () => {
    running = await startServer(
      (builder) =>
        builder
          .register(SpecimenService, specimens, {
            weighSpecimen: async ({ id }) => {
              await specimens.update(...([id, {}] as never[]))
              return {}
            },
            undeleteSpecimen: wrapped({}, async (request, _call, standard) => {
              runs.push('wrapped')
              return standard(request)
            }),
          })
          .register(
            EchoService,
            partly(EchoService, {
              ...echoService,
              echo: async ({ text }: { text: string }) => {
                await specimens.modify('a', () => ({ title: text }))
                return { text }
              },
              count: async function* () {
                yield { text: (await specimens.update(...(['a', {}] as never[]))).id }
              },
            }),
          ),
      { gateway: { connect: true } },
    )
    client = new ForeignClient(SpecimenService, running.grpc)
    echo = new ForeignClient(EchoService, running.grpc)
    await RequestContext.as({ tenant: 'acme', subject: 'test' }, () =>
      specimens.create({ id: 'a', code: 'a', title: 'first' } as never),
    )
  })
  after(async () => {
    client?.close()
    echo?.close()
    await running?.stop()
  })
  beforeEach(() => (runs = []))

  const update = (...paths: string[]) =>
    client.unary('UpdateSpecimen', { specimen: { id: 'a', title: 'x' }, update_mask: { paths } }, ALICE)
  const batch = (...paths: string[]) => {
    const request = { specimen: { id: 'a', title: 'x' }, update_mask: { paths } }
    return client.unary('BatchUpdateSpecimens', { requests: [request] }, ALICE)
  }

  for (const [name, call] of [
    ['an update', update],
    ['an item of a batch', batch],
  ] as const) {
    for (const path of ['titel', 'etag', 'serial', 'bin', 'dueTime', 'account_id'])
      it(`of ${name} that names ${path} is rejected before an override runs`, async () => {
        writes = ['title']
        const { code, details } = await call('title', path)
        expect([code, runs]).to.deep.equal([INVALID, []])
        expect(details).to.include(path).and.not.to.include('outputOnly')
      })

    it(`that an override of ${name} writes may name properties`, async () => {
      writes = ['dueTime', 'title']
      expect((await call('title')).code).to.equal(OK)
      expect(runs).to.have.length(1)
    })

    for (const path of ['titel', 'serial', 'etag'])
      it(`that an override of ${name} writes with ${path} is Internal, and logged`, async () => {
        running.records.length = 0
        writes = ['title', path]
        expect((await call('title')).code).to.equal(INTERNAL)
        const said = running.records.map(({ fields }) =>
          String((fields['err'] as Error | undefined)?.message),
        )
        expect(said.join()).to.include('code wrote an invalid mask').and.to.include(path)
      })
  }

  it('that code writes is Internal in a stream and over HTTP as well', async () => {
    writes = ['titel']
    const codes = [(await echo.stream('Count', [{}], ALICE)).code, (await echo.unary('Echo', {}, ALICE)).code]
    expect(codes).to.deep.equal([INTERNAL, INTERNAL])
    const url = `${running.http}/v1/specimens/a?update_mask=title`
    expect((await fetch(url, post(ALICE, { title: 'x' }, 'PATCH'))).status).to.equal(500)
  })

  it('that code writes is Internal if the request has its name in a read mask only', async () => {
    writes = ['serial']
    const request = { id: 'a', read_mask: { paths: ['serial'] } }
    expect((await client.unary('WeighSpecimen', request, ALICE)).code).to.equal(INTERNAL)
  })

  it('that code writes is InvalidArgument to code', async () => {
    writes = ['titel']
    const error = await RequestContext.as({ tenant: 'acme', subject: 'test' }, () =>
      specimens.update(...(['a', {}] as never[])).catch((failure: unknown) => failure),
    )
    expect(error).to.be.instanceOf(InvalidArgument).and.to.include({ field: 'update_mask' })
  })
})
