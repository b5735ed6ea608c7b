import { expect } from 'chai'
import { BeforeInsert, Column, Entity, EventSubscriber, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../decorators/index.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import type { Repository } from '../../lib/persistence/contract/repository.js'
import { memoryRepositoryOf, repositoryOf } from '../../lib/persistence/repository-of.js'
import { SqliteDataSource } from '../../lib/persistence/sqlite-data-source.js'
import { ServerBuilder } from '../../lib/server/server-builder.js'
import { backends, databases, describeOn } from '../support/databases/backends.js'
import type { DeclarationError } from '../../lib/errors.js'
import { NoteSchema, NoteService, UndeclaredService } from '../support/gen/specimens_pb.js'
import { collated } from '../conformance/repository/open-subject.js'
import { type LogRecord, recordingLogger } from '../support/servers/server.js'
import { Note } from '../support/entities/specimen.js'

@Resource({ message: NoteSchema, type: 'note' })
@Entity('notes')
class OwnNote {
  @PrimaryColumn() name!: string
  @Column() text!: string
  @Column() stars!: number
  @Column() accountId!: string
}

@Resource({ message: NoteSchema, type: 'note' })
@Entity('notes')
@TenantScoped()
class ScopedNote {
  @PrimaryColumn() name!: string
  @Column() text!: string
  @Column() stars!: number
}

const KEYED_BY_ID =
  "OwnNote belongs to tenants but has only name as its key: a create with another tenant's key returns ALREADY_EXISTS, which reveals that the key exists; write @TenantScoped(), which makes the tenant a part of the key"

/** Its rules, its implementation and a table are missing. */
const broken = (logger = recordingLogger()) => {
  const dataSource = new SqliteDataSource({ database: ':memory:', entities: [Note] })
  return new ServerBuilder({ grpcAddr: '127.0.0.1:0', logger })
    .register(NoteService, new (repositoryOf(Note))(dataSource), {} as never)
    .register(UndeclaredService, {} as never)
    .rules({ method: '/specimens.v1.NoteService/GetNote', public: true })
    .build()
}

/** What `serve` says, and what was logged; `served` when it served. */
async function started(
  repository: Repository<object>,
): Promise<{ readonly outcome: string; readonly grpc: string; readonly warnings: readonly LogRecord[] }> {
  const logger = recordingLogger()
  const server = new ServerBuilder({ grpcAddr: '127.0.0.1:0', logger })
    .register(NoteService, repository, {} as never)
    .build()
  const controller = new AbortController()
  const served = server.serve(controller.signal)
  let outcome = 'served'
  let grpc = ''
  try {
    await Promise.race([server.ready(), served])
    grpc = server.grpcAddr()
    controller.abort()
    await served
  } catch (error) {
    outcome = (error as Error).message
    grpc = server.grpcAddr()
  }
  return { outcome, grpc, warnings: logger.records.filter(({ level }) => level === 'warn') }
}

describeOn('a server that starts', backends, (backend) => {
  const rows = [
    ['warns of a resource of tenants that is keyed by id alone', OwnNote, [KEYED_BY_ID]],
    ['warns of nothing for a resource whose tenant is in the key', ScopedNote, []],
    ['warns of nothing for a shared resource', Note, []],
  ] as const
  for (const [what, entity, warnings] of rows)
    it(what, async () => {
      const { dataSource, database, close } = await backend.open([entity])
      try {
        let notes: unknown = new (memoryRepositoryOf<object>(entity))()
        if (dataSource !== undefined && database !== undefined) {
          await createTables(collated(dataSource, backend), [entity], database.dialect.name)
          notes = new (repositoryOf<object>(entity))(dataSource)
        }
        const { outcome, warnings: logged } = await started(notes as Repository<object>)
        expect(outcome).to.equal('served')
        expect(logged.map(({ message }) => message)).to.deep.equal(warnings)
        for (const { fields } of logged) expect(fields).to.deep.equal({ resource: 'note' })
      } finally {
        await close()
      }
    })
})

describeOn('a server that starts', databases, (backend) => {
  it('refuses a repository whose DataSource is not initialized, and binds nothing', async () => {
    const { dataSource, close } = await backend.open([Note])
    await dataSource!.destroy()
    try {
      const { outcome, grpc } = await started(new (repositoryOf(Note))(dataSource!))
      expect(outcome).to.equal(
        'server: 1 problem(s)\n  - Note: its DataSource is not initialized: await dataSource.initialize() first',
      )
      expect(grpc).to.equal('')
    } finally {
      await close()
    }
  })

  it('refuses a repository whose entity is not in the DataSource', async () => {
    const { dataSource, close } = await backend.open([OwnNote])
    await dataSource!.destroy()
    try {
      const notes = new (repositoryOf(Note))(dataSource!)
      await dataSource!.initialize()
      const { outcome, grpc } = await started(notes)
      expect(outcome).to.equal(
        'server: 1 problem(s)\n  - Note: its DataSource does not contain the entity: add Note to its entities',
      )
      expect(grpc).to.equal('')
    } finally {
      await close()
    }
  })
})

describe('a server that starts', () => {
  @EventSubscriber()
  class Watcher {
    beforeInsert() {}
  }
  @EventSubscriber()
  class Listener {
    listenTo() {
      return Note
    }
    beforeInsert() {}
  }

  it('takes a subscriber of a resource', async () => {
    const dataSource = new SqliteDataSource({
      database: ':memory:',
      entities: [Note],
      subscribers: [Listener],
    })
    const notes = new (repositoryOf(Note))(dataSource)
    await dataSource.initialize()
    const { outcome } = await started(notes)
    await dataSource.destroy()
    expect(outcome).to.equal('served')
  })

  it('warns of a subscriber without listenTo', async () => {
    const dataSource = new SqliteDataSource({
      database: ':memory:',
      entities: [Note],
      subscribers: [Watcher],
    })
    await dataSource.initialize()
    const { outcome, warnings } = await started(new (repositoryOf(Note))(dataSource))
    await dataSource.destroy()
    expect(outcome).to.equal('served')
    expect(warnings.map(({ message }) => message)).to.deep.equal([
      'the subscriber Watcher receives no events of reads and writes by repositories: give it a listenTo() with one entity',
    ])
  })

  it('reports the problems of rules, methods and repositories in one startup', async () => {
    const server = broken()
    const failed = (await server
      .serve(new AbortController().signal)
      .catch((error: unknown) => error)) as DeclarationError
    const kinds = failed.values.map(({ kind }) => kind).sort()
    expect(kinds).to.deep.equal(['noImplementation', 'notInitialized', 'rule', 'rule'])
    const { problems } = await broken().check()
    expect(problems).to.deep.equal(failed.values)
  })

  it('checks without starting, and serves afterwards', async () => {
    const logger = recordingLogger()
    const server = new ServerBuilder({ grpcAddr: '127.0.0.1:0', logger })
      .register(NoteService, new (memoryRepositoryOf(OwnNote))())
      .build()
    const found = await server.check()
    expect(found.problems).to.deep.equal([])
    expect(found.warnings.map(({ entity, text }) => [entity, text])).to.deep.equal([['OwnNote', KEYED_BY_ID]])
    expect([server.grpcAddr(), logger.records]).to.deep.equal(['', []])
    const controller = new AbortController()
    const served = server.serve(controller.signal)
    await Promise.race([server.ready(), served])
    expect(server.grpcAddr()).to.not.equal('')
    controller.abort()
    await served
  })

  it('takes a repository that has no check of its own', async () => {
    const memory = new (memoryRepositoryOf(Note))()
    expect(memory).to.not.have.property('startUpCheck')
    expect((await started(memory)).outcome).to.equal('served')
  })

  it('rejects a repository whose type the rules of its standard methods do not name', async () => {
    @Resource({ message: NoteSchema, shared: true })
    @Entity('remarks')
    class RemarkEntity {
      @PrimaryColumn() name!: string
      @Column() text!: string
      @Column() stars!: number
    }
    const { outcome } = await started(new (memoryRepositoryOf(RemarkEntity))())
    expect(outcome).to.match(
      /specimens\.v1\.NoteService: the rules of .*GetNote.* name the resource "note", but the type of the entity RemarkEntity is "remark"/,
    )
  })

  it('rejects a Create that cannot fill a column, unless a hook, a subscriber or an override may', async () => {
    @Resource({ message: NoteSchema, type: 'note', shared: true })
    @Entity('signed_notes')
    class SignedNote {
      @PrimaryColumn() name!: string
      @Column() text!: string
      @Column() stars!: number
      @Column() signedAt!: Date
      @Column('decimal') price!: string
    }
    @Resource({ message: NoteSchema, type: 'note', shared: true })
    @Entity('heard_notes')
    class HeardNote extends SignedNote {
      @BeforeInsert() sign() {
        this.signedAt = new Date()
      }
    }
    @EventSubscriber()
    class Signer {
      listenTo() {
        return SignedNote
      }
      beforeInsert() {}
    }
    class Overriding extends repositoryOf(SignedNote) {
      override create(note: Partial<SignedNote>) {
        return super.create({ ...note, signedAt: new Date() })
      }
    }
    const outcomeOf = async (
      made: (dataSource: SqliteDataSource) => Repository<object>,
      subscribers: (typeof Signer)[] = [],
    ) => {
      const entities = [SignedNote, HeardNote]
      const dataSource = new SqliteDataSource({ database: ':memory:', entities, subscribers })
      await dataSource.initialize()
      const { outcome } = await started(made(dataSource))
      await dataSource.destroy()
      return outcome
    }
    const plain = (dataSource: SqliteDataSource) => new (repositoryOf(SignedNote))(dataSource)
    const unfilled = ['price', 'signedAt'].map(
      (property) =>
        `SignedNote: ${property}: its column is NOT NULL, but nothing fills it in a Create: give the column a default, make it nullable, set it in @BeforeInsert(), or override create()`,
    )
    expect(await outcomeOf(plain)).to.equal(`server: 2 problem(s)\n  - ${unfilled.join('\n  - ')}`)
    expect(await outcomeOf(plain, [Signer])).to.equal('served')
    expect(await outcomeOf((dataSource) => new (repositoryOf(HeardNote))(dataSource))).to.equal('served')
    expect(await outcomeOf((dataSource) => new Overriding(dataSource) as never)).to.equal('served')
  })
})
