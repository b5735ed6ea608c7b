import { expect } from 'chai'
import { MemoryRepository } from '../../../../lib/persistence/memory/memory-repository.js'
import { TypeormRepository } from '../../../../lib/persistence/sql/typeorm-repository.js'
import { createTables } from '../../../../lib/persistence/schema/create-tables.js'
import type { Repository } from '../../../../lib/persistence/contract/repository.js'
import { collated } from '../../../conformance/repository/open-subject.js'
import { backends, describeOn, type OpenBackend } from '../../../support/databases/backends.js'
import { Note } from '../../../support/entities/specimen.js'
import { NoteService } from '../../../support/gen/specimens_pb.js'
import { ForeignClient } from '../../../support/grpc/clients.js'
import { ALICE, post, type RunningServer, startServer } from '../../../support/servers/server.js'

const [OK, INVALID] = [0, 3]

/** A message without `google.api.resource`, whose Get is at `/v1/{name=notes/*}`. */
describeOn('a key that a path binds with several segments', backends, (backend) => {
  let opened: OpenBackend
  let notes: Repository<Note>
  let running: RunningServer
  let client: ForeignClient

  before(async () => {
    opened = await backend.open([Note])
    const { dataSource, database } = opened
    if (dataSource === undefined || database === undefined) notes = new MemoryRepository(Note)
    else {
      await createTables(collated(dataSource, backend), [Note], database.dialect.name)
      notes = new TypeormRepository(dataSource, Note)
    }
    running = await startServer((builder) => builder.register(NoteService, notes))
    client = new ForeignClient(NoteService, running.grpc)
  })
  after(async () => {
    client?.close()
    await running?.stop()
    await opened?.close()
  })

  it('is served over HTTP under it', async () => {
    const created = await fetch(`${running.http}/v1/notes`, post(ALICE, { name: 'notes/a', text: 'x' }))
    expect([created.status, await created.json()]).to.deep.equal([
      200,
      { name: 'notes/a', text: 'x', stars: 0 },
    ])
    const got = await fetch(`${running.http}/v1/notes/a`, { headers: ALICE })
    expect([got.status, await got.json()]).to.deep.equal([200, { name: 'notes/a', text: 'x', stars: 0 }])
    const deleted = await fetch(`${running.http}/v1/notes/a`, { method: 'DELETE', headers: ALICE })
    expect(deleted.status).to.equal(200)
  })

  const rows: readonly (readonly [name: string, code: number])[] = [
    ['notes/b', OK],
    ['', INVALID],
    ['b', INVALID],
    ['books/b', INVALID],
    ['notes/', INVALID],
    ['notes/b/c', INVALID],
    ['/notes/b', INVALID],
  ]
  for (const [name, code] of rows)
    it(`${code === OK ? 'is created' : 'is InvalidArgument, and nothing is created,'} for ${JSON.stringify(name)}`, async () => {
      const before = (await notes.list()).items.length
      const { code: found, details } = await client.unary('CreateNote', { note: { name, text: 'x' } }, ALICE)
      expect(found).to.equal(code)
      if (code === INVALID)
        expect(details).to.equal('note.name: must look like notes/*, as in the path of GetNote')
      expect((await notes.list()).items).to.have.length(before + Number(code === OK))
    })
})
