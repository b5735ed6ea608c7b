import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Default } from '../../../decorators/default.js'
import { Resource } from '../../../decorators/resource.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { backends, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { NoteSchema, NoteService } from '../../support/gen/specimens_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { ALICE, type RunningServer, startServer } from '../../support/servers/server.js'

@Resource({ message: NoteSchema, type: 'note', shared: true })
@Entity('rated_notes')
class RatedNote {
  @PrimaryColumn() name!: string
  @Column() @Default(() => 'unwritten') text!: string
  @Column({ default: 3 }) stars!: number
}

describeOn('defaults on the wire', backends, (backend) => {
  let opened: OpenBackend
  let running: RunningServer
  let client: ForeignClient

  before(async () => {
    opened = await backend.open([RatedNote])
    const { dataSource, database } = opened
    if (dataSource !== undefined && database !== undefined)
      await createTables(collated(dataSource, backend), [RatedNote], database.dialect.name)
    const options = { newKey: () => `notes/${randomUUID()}` }
    const notes =
      dataSource === undefined
        ? new (memoryRepositoryOf(RatedNote))(options)
        : new (repositoryOf(RatedNote))(dataSource, options)
    running = await startServer((builder) => builder.register(NoteService, notes))
    client = new ForeignClient(NoteService, running.grpc)
  })
  after(async () => {
    client?.close()
    await running?.stop()
    await opened?.close()
  })

  const overGrpc = async (note: object) => {
    const { answer, details } = await client.unary('CreateNote', { note }, ALICE)
    expect(details).to.equal('OK')
    return answer
  }
  const overHttp = async (note: object) => {
    const response = await fetch(`${running.http}/v1/notes`, {
      method: 'POST',
      headers: { ...ALICE, 'content-type': 'application/json' },
      body: JSON.stringify(note),
    })
    expect(response.status).to.equal(200)
    return (await response.json()) as object
  }

  for (const [listener, create] of [
    ['gRPC', overGrpc],
    ['HTTP', overHttp],
  ] as const)
    it(`stand for zeros that a Create over ${listener} sends or leaves out, and for nothing else`, async () => {
      expect(await create({})).to.include({ text: 'unwritten', stars: 3 })
      expect(await create({ text: '', stars: 0 })).to.include({ text: 'unwritten', stars: 3 })
      expect(await create({ text: 'a', stars: -1 })).to.include({ text: 'a', stars: -1 })
    })

  it('stand for nothing on Update', async () => {
    const created = await overGrpc({ text: 'a', stars: 5 })
    const name = created?.['name']
    const update_mask = { paths: ['stars', 'text'] }
    const { answer } = await client.unary('UpdateNote', { note: { name }, update_mask }, ALICE)
    expect(answer).to.include({ stars: 0, text: '' })
  })
})
