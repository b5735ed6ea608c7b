import { expect } from 'chai'
import type { DescMessage } from '@bufbuild/protobuf'
import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { Column, type ColumnOptions, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../../decorators/index.js'
import { MemoryDatabase } from '../../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf } from '../../../../lib/persistence/repository-of.js'
import { MemoryRepository } from '../../../../lib/persistence/memory/memory-repository.js'
import { altered } from '../../../support/grpc/altered.js'
import { ForeignClient } from '../../../support/grpc/clients.js'
import { NoteService } from '../../../support/gen/specimens_pb.js'
import { ALICE, post, type RunningServer, startServer } from '../../../support/servers/server.js'
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

/** Notes on a shelf that the path names, by the type of its key. */
const SHELVES: readonly (readonly [
  name: string,
  column: ColumnOptions,
  design: unknown,
  wire: Type,
  shelves: readonly [unknown, unknown, unknown?],
])[] = [
  ['a text', { type: 'varchar', length: 9 }, String, Type.STRING, ['a', 'b']],
  [
    'a uuid',
    { type: 'uuid' },
    String,
    Type.STRING,
    ['0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  ],
  ['an int', { type: 'int' }, Number, Type.INT32, [5, 7]],
  ['an int as a string', { type: 'int' }, Number, Type.STRING, ['5', '7', '0']],
  ['an int of 64 bits', { type: 'int' }, Number, Type.INT64, ['5', '7']],
  ['digits of an int', { type: 'int' }, String, Type.INT32, [5, 7]],
  ['a bigint', { type: 'bigint' }, BigInt, Type.INT64, ['5', '7']],
  ['a bigint as a string', { type: 'bigint' }, BigInt, Type.STRING, ['5', '7', '0']],
  ['digits of a bigint', { type: 'bigint' }, String, Type.INT64, ['5', '7']],
  ['digits of a bigint as a string', { type: 'bigint' }, String, Type.STRING, ['5', '7', '0']],
  ['a day', { type: 'date' }, String, Type.STRING, ['2024-02-29', '2024-03-01']],
]

describe('a method whose path binds a reference to', () => {
  for (const [name, column, design, wire, [shelf, other, zero]] of SHELVES)
    it(`${name} takes it from there, and none beside it`, async () => {
      const service = altered(NoteService, (proto) => {
        for (const owner of ['Note', 'CreateNoteRequest', 'ListNotesRequest'])
          proto.addField(owner, 'shelf_id', wire)
        for (const method of ['CreateNote', 'ListNotes'] as const)
          proto.bindPath(method, {
            pattern: {
              case: method === 'CreateNote' ? 'post' : 'get',
              value: '/v1/shelves/{shelf_id}/notes',
            },
            body: method === 'CreateNote' ? 'note' : '',
          })
      })
      @Resource({ shared: true })
      @Entity('note_shelves')
      class Shelf {
        id!: never
      }
      @Entity('notes_on_shelves')
      class ShelvedNote {
        @PrimaryColumn() name!: string
        @Column() text!: string
        @Column() stars!: number
        shelfId!: never
        @ManyToOne(() => Shelf, { nullable: false }) @JoinColumn({ name: 'shelf_id' }) shelf?: Shelf
      }
      for (const [entity, property, decorate] of [
        [Shelf, 'id', PrimaryColumn(column as never)],
        [ShelvedNote, 'shelfId', Column(column as never)],
      ] as const) {
        Reflect.defineMetadata('design:type', design, entity.prototype, property)
        decorate(entity.prototype, property)
      }
      Resource({ shared: true, type: 'note', message: service.method.getNote.output as DescMessage })(
        ShelvedNote,
      )
      const database = new MemoryDatabase()
      const shelves = new (memoryRepositoryOf(Shelf))({ database })
      const notes = new (memoryRepositoryOf(ShelvedNote))({ database })
      for (const key of [shelf, other])
        await shelves.create({ id: (design as (value: unknown) => never)(key) })
      const running = await startServer((builder) => builder.register(service, notes as never))
      const on = `${running.http}/v1/shelves/${String(shelf)}/notes`
      const created = async (note: object) => (await fetch(on, post(ALICE, note))).status
      expect(await created({ name: 'notes/1' })).to.equal(200)
      expect(await created({ name: 'notes/2', shelf_id: shelf })).to.equal(200)
      expect(await created({ name: 'notes/3', shelf_id: other })).to.equal(400)
      if (zero !== undefined) expect(await created({ name: 'notes/4', shelf_id: zero })).to.equal(400)
      const { notes: listed } = (await (await fetch(on, { headers: ALICE })).json()) as { notes: object[] }
      expect(listed.map((note) => (note as { shelf_id: unknown }).shelf_id)).to.deep.equal([shelf, shelf])
      await running.stop()
    })
})
