import { expect } from 'chai'
import { BeforeInsert, BeforeUpdate, Entity } from 'typeorm'
import { Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { ResourceExhausted } from '../../../lib/errors.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/index.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import { backends, describeOn, type OpenBackend, openWithTables } from '../../support/databases/backends.js'
import { Specimen } from '../../support/entities/specimen.js'
import { SpecimenSchema, SpecimenService } from '../../support/gen/specimens_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'

const seen: (readonly [string, string, boolean])[] = []

@Resource({ message: SpecimenSchema, type: 'specimen' })
@Entity('specimens')
@TenantScoped()
@SoftDeletable()
class Watched extends Specimen {
  @BeforeInsert() @BeforeUpdate() watch(): void {
    const { principal, validateOnly } = RequestContext.current()
    seen.push([this.title, principal.subject, validateOnly])
    if (this.title === 'full') throw new ResourceExhausted('the collection is full', 1000)
    if (this.title === 'broken') throw new RangeError('a detail')
    this.note = `seen by ${principal.subject}`
  }
}

describeOn('hooks in a call', backends, (backend) => {
  let opened: OpenBackend
  let running: RunningServer
  let client: ForeignClient

  before(async () => {
    opened = await openWithTables(backend, [Watched])
    const { dataSource } = opened
    const options = { minter: new CredentialMinter(), encryptor: newDev(Buffer.alloc(32, 7)) }
    const specimens =
      dataSource === undefined
        ? new (memoryRepositoryOf(Watched))(options)
        : new (repositoryOf(Watched))(dataSource, options)
    running = await startServer((builder) =>
      builder.register(SpecimenService, specimens, { weighSpecimen: () => ({}) }),
    )
    client = new ForeignClient(SpecimenService, running.grpc)
  })
  beforeEach(() => void seen.splice(0))
  after(async () => {
    client?.close()
    await running?.stop()
    await opened?.close()
  })

  const create = (title: string, id: string, more: object = {}) =>
    client.unary('CreateSpecimen', { specimen: { title, code: id }, specimen_id: id, ...more }, ALICE)

  it('run for the principal of the call, and change what is answered', async () => {
    const { answer } = await create('Marble', 'a')
    expect(answer).to.include({ id: 'a', note: 'seen by alice' })
    const update = { specimen: { id: 'a', title: 'Slate', note: 'mine' }, update_mask: { paths: ['title'] } }
    const updated = await client.unary('UpdateSpecimen', update, { ...ALICE, subject: 'bob' })
    expect(updated.answer).to.include({ title: 'Slate', note: 'seen by bob' })
    expect(seen).to.deep.equal([
      ['Marble', 'alice', false],
      ['Slate', 'bob', false],
    ])
  })

  it('run for validate_only, see it, and leave nothing', async () => {
    const { answer, code } = await create('Marble', 'b', { validate_only: true })
    expect([code, answer?.['note'], seen]).to.deep.equal([0, 'seen by alice', [['Marble', 'alice', true]]])
    expect((await client.unary('GetSpecimen', { id: 'b' }, ALICE)).code).to.equal(5)
  })

  it('answer with an error of theirs as it is, over gRPC and HTTP', async () => {
    const { code, details } = await create('full', 'c')
    expect([code, details]).to.deep.equal([8, 'the collection is full'])
    const response = await fetch(`${running.http}/v1/specimens`, post(ALICE, { title: 'full', code: 'c' }))
    expect([response.status, ((await response.json()) as { message: string }).message]).to.deep.equal([
      429,
      'the collection is full',
    ])
  })

  it('answer with Internal for any other error, which is logged', async () => {
    const before = running.records.length
    const { code, details } = await create('broken', 'd')
    expect([code, details]).to.deep.equal([13, 'internal error'])
    expect(JSON.stringify(running.records.slice(before))).to.include('a detail')
    expect((await client.unary('GetSpecimen', { id: 'd' }, ALICE)).code).to.equal(5)
  })
})
