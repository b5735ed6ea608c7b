import { create } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { MemoryRepository } from '../../lib/persistence/memory-repository.js'
import { TypeormRepository } from '../../lib/persistence/typeorm-repository.js'
import { createTables } from '../../lib/persistence/create-tables.js'
import type { Repository } from '../../lib/persistence/repository.js'
import { CredentialMinter } from '../../lib/secrets/credential-minter.js'
import { newDev } from '../../lib/secrets/dev-encryptor.js'
import { supportsValidateOnly } from '../../lib/server/handler.js'
import { backends, describeOn, type OpenBackend } from '../support/backends.js'
import { ForeignClient } from '../support/clients.js'
import { type CreateSpecimenRequest, SpecimenSchema, SpecimenService } from '../support/gen/specimens_pb.js'
import { ALICE, partly, type RunningServer, startServer } from '../support/server.js'
import { Specimen } from '../support/specimen.js'

describeOn('validate_only answered by a repository', backends, (backend) => {
  let opened: OpenBackend
  let running: RunningServer
  let client: ForeignClient
  let specimens: Repository<Specimen>

  before(async () => {
    opened = await backend.open([Specimen])
    const { dataSource, database } = opened
    const sealing = { minter: new CredentialMinter(), encryptor: newDev(Buffer.alloc(32, 7)) }
    if (dataSource === undefined || database === undefined)
      specimens = new MemoryRepository(Specimen, sealing)
    else {
      await createTables(dataSource, [Specimen], backend.name === 'mysql8' ? 'mariadb' : database.dialect)
      specimens = new TypeormRepository(dataSource, Specimen, sealing)
    }
    const weighSpecimen = () => create(SpecimenSchema)
    running = await startServer((builder) => builder.register(SpecimenService, specimens, { weighSpecimen }))
    client = new ForeignClient(SpecimenService, running.grpc)
  })

  after(async () => {
    client?.close()
    await running?.stop()
    await opened?.close()
  })

  const list = async () => {
    const { answer } = await client.unary('ListSpecimens', { show_deleted: true }, ALICE)
    return answer?.['specimens'] as Record<string, unknown>[]
  }

  it('answers what create would have answered, without a token, and creates nothing', async () => {
    const request = { specimen: { title: 'Marble', code: 'v1' }, specimen_id: 'v1', validate_only: true }
    const { answer, code, details } = await client.unary('CreateSpecimen', request, ALICE)
    expect(code, details).to.equal(0)
    expect(answer).to.include({ id: 'v1', title: 'Marble', account_id: 'acme', api_key: '' })
    expect(answer?.['etag']).not.to.equal('')
    expect(await list()).to.deep.equal([])
  })

  it('answers what update would have answered, and updates nothing', async () => {
    const made = await client.unary(
      'CreateSpecimen',
      { specimen: { title: 'Slate', code: 'v2' }, specimen_id: 'v2' },
      ALICE,
    )
    expect(made.answer?.['api_key']).to.match(/^ib_/)
    const request = {
      specimen: { id: 'v2', title: 'Basalt' },
      update_mask: { paths: ['title'] },
      validate_only: true,
    }
    const { answer } = await client.unary('UpdateSpecimen', request, ALICE)
    expect(answer).to.include({ id: 'v2', title: 'Basalt' })
    const { answer: after } = await client.unary('GetSpecimen', { id: 'v2' }, ALICE)
    expect(after).to.include({ title: 'Slate', etag: made.answer?.['etag'] })
  })

  it('fails as the real call would', async () => {
    const taken = { specimen: { title: 'Slate', code: 'other' }, specimen_id: 'v2', validate_only: true }
    expect((await client.unary('CreateSpecimen', taken, ALICE)).code).to.equal(6)
    const missing = { specimen: { id: 'none' }, update_mask: { paths: ['title'] }, validate_only: true }
    expect((await client.unary('UpdateSpecimen', missing, ALICE)).code).to.equal(5)
  })

  it('keeps nothing for replay, and is not replayed', async () => {
    const request = { specimen: { title: 'Chalk', code: 'v3' }, specimen_id: 'v3', request_id: 'again' }
    const headers = { ...ALICE, 'idempotency-key': 'again' }
    await client.unary('CreateSpecimen', { ...request, validate_only: true }, headers)
    const real = await client.unary('CreateSpecimen', request, headers)
    expect(real.answer?.['api_key']).to.match(/^ib_/)
    const replayed = await client.unary('CreateSpecimen', request, headers)
    expect(replayed.answer).to.include({ id: 'v3', api_key: '' })
    expect(replayed.headers.get('x-idempotent-replay')).to.deep.equal(['true'])
  })
})

describe('validate_only answered by an implementation', () => {
  it('does not run a handler that does not know of it', async () => {
    let ran = 0
    const createSpecimen = () => {
      ran++
      return { id: '1' }
    }
    const running = await startServer((builder) =>
      builder.register(SpecimenService, partly(SpecimenService, { createSpecimen })),
    )
    const client = new ForeignClient(SpecimenService, running.grpc)
    const { code, answer } = await client.unary('CreateSpecimen', { validate_only: true }, ALICE)
    expect([code, answer?.['id'], ran]).to.deep.equal([0, '', 0])
    await client.unary('CreateSpecimen', {}, ALICE)
    expect(ran).to.equal(1)
    client.close()
    await running.stop()
  })

  it('runs one that does', async () => {
    const createSpecimen = supportsValidateOnly(
      ({ specimen }: CreateSpecimenRequest, call: { validateOnly: boolean }) => ({
        id: call.validateOnly ? 'would be made' : 'made',
        title: specimen?.title ?? '',
      }),
    )
    const running = await startServer((builder) =>
      builder.register(SpecimenService, partly(SpecimenService, { createSpecimen })),
    )
    const client = new ForeignClient(SpecimenService, running.grpc)
    const { answer } = await client.unary('CreateSpecimen', { validate_only: true }, ALICE)
    expect(answer).to.include({ id: 'would be made' })
    client.close()
    await running.stop()
  })
})
