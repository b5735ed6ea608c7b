import { expect } from 'chai'
import { MemoryRepository } from '../../../../lib/persistence/memory/memory-repository.js'
import { altered } from '../../../support/grpc/altered.js'
import { ForeignClient } from '../../../support/grpc/clients.js'
import { NoteService } from '../../../support/gen/specimens_pb.js'
import { ALICE, type RunningServer, startServer } from '../../../support/servers/server.js'
import { Note } from '../../../support/entities/specimen.js'

/** Notes on shelves: the path binds `text`, which a note has too. */
const ShelvedNotes = altered(NoteService, (proto) => {
  for (const request of ['GetNoteRequest', 'ListNotesRequest', 'CreateNoteRequest'])
    proto.addField(request, 'text')
  for (const [method, path] of [
    ['GetNote', '/v1/shelves/{text}/{name=notes/*}'],
    ['ListNotes', '/v1/shelves/{text}/notes'],
    ['DeleteNote', '/v1/shelves/{text}/{name=notes/*}'],
    ['CreateNote', '/v1/shelves/{text}/notes'],
    ['UpdateNote', '/v1/shelves/{note.text}/{note.name=notes/*}'],
  ] as const)
    proto.bindPath(method, { pattern: { case: 'get', value: path } })
})

describe('a method whose path binds a field of the resource', () => {
  let running: RunningServer
  let client: ForeignClient
  const notes = new MemoryRepository(Note)

  before(async () => {
    running = await startServer((builder) => builder.register(ShelvedNotes, notes), { httpAddr: '' })
    client = new ForeignClient(ShelvedNotes, running.grpc)
    await notes.create({ name: 'notes/1', text: 'upper', stars: 1 })
    await notes.create({ name: 'notes/2', text: 'lower', stars: 2 })
  })

  after(async () => {
    client.close()
    await running.stop()
  })

  const rows: readonly (readonly [string, object, number])[] = [
    ['GetNote', { name: 'notes/1', text: 'upper' }, 0],
    ['GetNote', { name: 'notes/1', text: 'lower' }, 5],
    ['GetNote', { name: 'notes/1', text: '' }, 5],
    [
      'UpdateNote',
      { note: { name: 'notes/1', text: 'lower', stars: 9 }, update_mask: { paths: ['stars'] } },
      5,
    ],
    [
      'UpdateNote',
      { note: { name: 'notes/1', text: 'upper', stars: 3 }, update_mask: { paths: ['stars'] } },
      0,
    ],
    ['DeleteNote', { name: 'notes/1', text: 'lower' }, 5],
    ['CreateNote', { note: { name: 'notes/3', text: 'lower' }, text: 'upper' }, 3],
    ['CreateNote', { note: { name: 'notes/3' }, text: 'upper' }, 0],
  ]
  for (const [method, request, code] of rows)
    it(`returns ${code} for ${method} ${JSON.stringify(request)}`, async () => {
      const outcome = await client.unary(method, request, ALICE)
      expect(outcome.code, outcome.details).to.equal(code)
    })

  it('lists only what is there, whatever the value holds', async () => {
    const names = async (text: string) => {
      const { answer } = await client.unary('ListNotes', { text }, ALICE)
      return (answer?.['notes'] as { name: string }[]).map(({ name }) => name)
    }
    expect(await names('lower')).to.deep.equal(['notes/2'])
    expect(await names('upper')).to.deep.equal(['notes/1', 'notes/3'])
    expect(await names(`x" OR text = "lower`)).to.deep.equal([])
    expect(await names('')).to.deep.equal([])
  })
})
