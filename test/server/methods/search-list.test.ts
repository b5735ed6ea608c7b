import { expect } from 'chai'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import type { ListOptions, ListScope } from '../../../lib/persistence/contract/repository.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { SpecimenService } from '../../support/gen/specimens_pb.js'
import { ALICE, partly, type RunningServer, startServer } from '../../support/servers/server.js'
import { Specimen } from '../../support/entities/specimen.js'

/** Remembers what it was asked to list. */
class Remembering extends MemoryRepository<Specimen> {
  asked: ListOptions = {}

  override list(options: ListOptions = {}, scope?: ListScope) {
    this.asked = options
    return super.list(options, scope)
  }
}

describe('the fields of a List request', () => {
  const specimens = new Remembering(Specimen, {
    minter: new CredentialMinter(),
    encryptor: newDev(Buffer.alloc(32, 7)),
  })
  let running: RunningServer
  let client: ForeignClient

  before(async () => {
    const { weighSpecimen } = partly(SpecimenService, {}) as { readonly weighSpecimen: never }
    running = await startServer((builder) => builder.register(SpecimenService, specimens, { weighSpecimen }))
    client = new ForeignClient(SpecimenService, running.grpc)
  })
  after(async () => {
    client.close()
    await running.stop()
  })

  const expected = {
    filter: 'title = "a"',
    orderBy: 'title desc',
    pageSize: 7,
    showDeleted: true,
    search: 'hard granite',
  }

  it('reach the repository over gRPC: q as the search', async () => {
    const { details } = await client.unary(
      'ListSpecimens',
      { filter: 'title = "a"', order_by: 'title desc', page_size: 7, show_deleted: true, q: 'hard granite' },
      ALICE,
    )
    expect(details).to.equal('OK')
    expect(specimens.asked).to.deep.include(expected)
  })

  it('reach the repository over HTTP: q as the search', async () => {
    const query =
      'filter=title%20%3D%20%22a%22&orderBy=title%20desc&pageSize=7&showDeleted=true&q=hard%20granite'
    const { status } = await fetch(`${running.http}/v1/specimens?${query}`, { headers: ALICE })
    expect(status).to.equal(200)
    expect(specimens.asked).to.deep.include(expected)
  })

  it('are empty where the request says nothing', async () => {
    await fetch(`${running.http}/v1/specimens`, { headers: ALICE })
    expect(specimens.asked.search ?? '').to.equal('')
    expect(specimens.asked.filter ?? '').to.equal('')
    expect(specimens.asked.showDeleted ?? false).to.equal(false)
  })
})
