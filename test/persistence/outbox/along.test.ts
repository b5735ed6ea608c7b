import { expect } from 'chai'
import { Column, type DataSource, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { Emits, ETag, Resource, Tags, TenantScoped, UpdateTime } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { ErrConflict, InvalidArgument } from '../../../lib/errors.js'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import { type SentStatement, watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { writtenEntityOf } from '../../../lib/persistence/sql/row-codec.js'
import { targetOf } from '../../../lib/persistence/rows/row-target.js'
import { RowStore } from '../../../lib/persistence/sql/row-store.js'
import { transaction } from '../../../lib/persistence/sql/transaction.js'
import type { RepositoryOptions } from '../../../lib/persistence/sql/typeorm-repository.js'
import { newEntity, type Values } from '../../../lib/persistence/contract/new-entity.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { asTenant, draft, inAcme, rejection, subjectOptions } from '../../conformance/repository/subject.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { everyStatementMayFail } from '../../support/databases/every-statement-may-fail.js'
import { Specimen } from '../../support/entities/specimen.js'

@Resource()
@Entity('crates')
@TenantScoped()
@Emits()
class Crate {
  @PrimaryColumn() id!: string
  @Column({ length: 20 }) title!: string
  @Column({ type: 'int' }) size!: number
  @Column({ type: 'bigint', nullable: true }) weight?: bigint
  @Column({ type: 'real', nullable: true }) ratio?: number
  @Column({ type: 'bytea', nullable: true }) seal?: Uint8Array
  @Column({ nullable: true }) dueTime?: Date
  @Tags() tags!: Record<string, string>
  @UpdateTime() updateTime!: Date
  @ETag() etag!: string
  accountId!: string
}

@Resource()
@Entity('crate_lids')
@TenantScoped()
@Emits()
class Lid {
  @PrimaryColumn() id!: string
  @Column() crateId!: string
  @ManyToOne(() => Crate)
  @JoinColumn({ name: 'crate_id' })
  crate?: Crate
  accountId!: string
}

const postgres = databases.filter(({ name }) => name === 'postgres')
const full = (i: number): Partial<Crate> => ({
  title: `crate "${i}" \\ é`,
  size: i,
  weight: 9_007_199_254_740_993n + BigInt(i),
  ratio: 0.1,
  seal: Uint8Array.of(0, 34, 92, 255),
  dueTime: new Date('2026-03-04T05:06:07.089Z'),
  tags: { 'a"b': '{c,d}' },
})

describeOn('a new row and its event', postgres, (backend) => {
  let dataSource: DataSource
  let close: () => Promise<void>
  let sent: SentStatement[] = []

  before(async () => {
    const opened = await backend.open([Crate, Lid, Specimen])
    dataSource = opened.dataSource as DataSource
    ;({ close } = opened)
    await applyBaseline(dataSource)
    await createTables(dataSource, [Crate, Lid, Specimen], 'postgres')
    // Those who follow the outbox are woken up some time after a commit.
    watchStatements(dataSource, (statement) => {
      if (!statement.text.includes('pg_notify')) sent.push(statement)
    })
  })
  beforeEach(() => empty())
  after(() => close?.())

  const empty = async () => {
    for (const table of ['crate_lids', 'crates', 'outbox']) await dataSource.query(`DELETE FROM ${table}`)
  }
  const crates = (options: RepositoryOptions = {}) => new (repositoryOf(Crate))(dataSource, options)
  type Crates = ReturnType<typeof crates>
  const events = (): Promise<{ key: string; type: string; payload: Buffer }[]> =>
    dataSource.query(
      'SELECT aggregate_id AS key, event_type AS type, payload FROM outbox WHERE log_position IS NULL ORDER BY position',
    )
  const resources = async () =>
    (await events()).map(
      ({ payload }) =>
        (JSON.parse(payload.toString()) as { data: { resource: Record<string, unknown> } }).data.resource,
    )
  /** Until the rules of the table are known, a create is a transaction. */
  const warm = async (create: () => Promise<unknown>) => {
    for (let round = 0; round < 100; round++) {
      sent = []
      await inAcme(create)
      if (sent.length === 1) break
    }
    await empty()
    sent = []
  }
  const warmed = async (options?: RepositoryOptions): Promise<Crates> => {
    const repository = crates(options)
    await warm(() => repository.create(full(0)))
    return repository
  }

  for (const merge of ['all', 'tenant', 'off'] as const)
    it(`are one statement, with merge: '${merge}'`, async () => {
      const repository = await warmed({ coalesce: merge })
      const made = await inAcme(() => repository.create(full(1)))
      await inAcme(() => repository.create({ ...full(2), id: 'chosen' }))
      expect(
        sent.map(({ text }) => /^WITH i AS \(INSERT .* e AS \(INSERT INTO outbox/.test(text)),
      ).to.deep.equal([true, true])
      expect((await events()).map(({ key, type }) => `${type} ${key}`)).to.deep.equal([
        `crate.created ${made.id}`,
        'crate.created chosen',
      ])
    })

  it('are one statement for many calls, with an event for each row as it is stored', async () => {
    const repository = await warmed()
    const made = await Promise.all(
      Array.from({ length: 64 }, (_, i) =>
        asTenant(`t${i % 4}`, () =>
          repository.create(i % 3 === 0 ? { title: 'x', size: i, tags: {} } : full(i)),
        ),
      ),
    )
    // Two kinds of statements, each with as many at once as there are connections.
    expect(sent.length).to.be.lessThan(32)
    expect(sent.some(({ calls }) => calls > 1)).to.equal(true)
    const told = await resources()
    expect(new Set(told.map(({ id }) => id))).to.deep.equal(new Set(made.map(({ id }) => id)))
    for (const { id, accountId } of made) {
      const stored = await asTenant(accountId, () => repository.get(id))
      const event = told.find((one) => one.id === id)
      expect(event).to.deep.equal(resourceModel(Crate).events?.toJson(stored))
    }
  })

  it('tell every kind of value as a read gives it', async () => {
    const model = resourceModel(Specimen)
    const on = executorOf(dataSource)
    const rows = new RowStore(model, on.dialect)
    const written = writtenEntityOf(model)
    const scope = { context: undefined as never, tenant: 'acme' }
    for (const more of [
      {},
      { ratio: 0.1, score: -0, weight: 2 ** 32 - 1, big: -(2n ** 63n), huge: 2n ** 64n - 1n },
      { labels: [], tags: {}, blob: new Uint8Array(), span: 0n, dueTime: new Date(0) },
      { note: ' trailing  ', phase: 2, origin: { quarry: '', depth: 1n, crew: ['a'] } },
    ] as Partial<Specimen>[]) {
      const values = newEntity(model, draft(more), scope, subjectOptions) as unknown as Values
      const call = { on, context: new RequestContext() }
      const stored = await rows.insert(call, { row: targetOf(model, values), values })
      const told = written(values)
      // What a column holds as -0 is 0 to the driver, and to JSON.
      expect({ ...told, score: told.score + 0 }).to.deep.equal({ ...stored })
    }
  })

  it('are a transaction where the table does something of its own, and tell what it has stored', async () => {
    const changes: Readonly<Record<string, readonly [make: string, undo: string]>> = {
      trigger: [
        "CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.title := upper(NEW.title); RETURN NEW; END'; CREATE TRIGGER t BEFORE INSERT ON crates FOR EACH ROW EXECUTE FUNCTION shout()",
        'DROP TRIGGER t ON crates; DROP FUNCTION shout()',
      ],
      'short time': [
        'ALTER TABLE crates ALTER due_time TYPE timestamptz(0)',
        'ALTER TABLE crates ALTER due_time TYPE timestamptz',
      ],
      'padded text': [
        'ALTER TABLE crates ALTER title TYPE char(30)',
        'ALTER TABLE crates ALTER title TYPE varchar(20)',
      ],
      'shorter text': [
        'ALTER TABLE crates ALTER title TYPE varchar(8)',
        'ALTER TABLE crates ALTER title TYPE varchar(20)',
      ],
    }
    for (const [make, undo] of Object.values(changes)) {
      await empty()
      await dataSource.query(make)
      const repository = crates()
      const more = { title: 'spaces      ', dueTime: new Date('2026-03-04T05:06:07.600Z') }
      for (let round = 0; round < 4; round++) await inAcme(() => repository.create({ ...full(1), ...more }))
      sent = []
      const made = await inAcme(() => repository.create({ ...full(1), ...more }))
      const texts = sent.map(({ text }) => text.split(' ')[0])
      await dataSource.query(undo)
      expect(texts).to.deep.equal(['BEGIN', 'INSERT', 'INSERT', 'COMMIT'])
      expect((await resources()).at(-1)).to.deep.equal(resourceModel(Crate).events?.toJson(made))
    }
  })

  it('are both there, or none of them', async () => {
    const repository = await warmed()
    await inAcme(() => repository.create({ ...full(1), id: 'taken' }))
    await rejection(
      inAcme(() => repository.create({ ...full(2), id: 'taken' })),
      ErrConflict,
    )
    expect(await events()).to.have.length(1)
    const counts = async () => [
      (await dataSource.query<unknown[]>('SELECT 1 FROM crates')).length,
      (await events()).length,
    ]
    const sentBy = await everyStatementMayFail(
      dataSource,
      empty,
      () => inAcme(() => repository.create({ ...full(3), id: 'new' })),
      async (outcome) => {
        expect(await counts()).to.deep.equal(outcome === 'failed' ? [0, 0] : [1, 1])
      },
    )
    // The second one wakes up who follows.
    expect(sentBy).to.be.within(1, 2)
    await dataSource.query('ALTER TABLE outbox RENAME TO elsewhere')
    try {
      await rejection(
        inAcme(() => repository.create({ ...full(4), id: 'lost' })),
        Error,
      )
    } finally {
      await dataSource.query('ALTER TABLE elsewhere RENAME TO outbox')
    }
    expect(await counts()).to.deep.equal([1, 1])
  })

  it('go with the transaction around them', async () => {
    const repository = await warmed()
    class Stop extends Error {}
    await rejection(
      inAcme(() =>
        transaction(dataSource, async () => {
          await repository.create(full(1))
          throw new Stop()
        }),
      ),
      Stop,
    )
    expect(await events()).to.deep.equal([])
    await inAcme(() => transaction(dataSource, () => repository.create({ ...full(1), id: 'kept' })))
    expect((await events()).map(({ key }) => key)).to.deep.equal(['kept'])
  })

  it('are one statement with the rows that they refer to, and nothing where one is missing', async () => {
    const repository = await warmed()
    const lids = new (repositoryOf(Lid))(dataSource)
    const { id } = await inAcme(() => repository.create(full(1)))
    await inAcme(() => lids.create({ crateId: id }))
    for (let round = 0; round < 100 && sent.length !== 1; round++) {
      sent = []
      await inAcme(() => lids.create({ crateId: id }))
    }
    expect(sent.map(({ text }) => /^WITH p0 AS .*, i AS .*, e AS /.test(text))).to.deep.equal([true])
    const before = (await events()).length
    await rejection(
      inAcme(() => lids.create({ crateId: 'nowhere' })),
      InvalidArgument,
    )
    await rejection(
      asTenant('other', () => lids.create({ crateId: id })),
      InvalidArgument,
    )
    expect(await events()).to.have.length(before)
  })

  it('draw their position while nobody else can write the row', async () => {
    const repository = await warmed()
    const again = async (_: unknown, at: number) => {
      for (let turn = 0; turn < 25; turn++) {
        const work =
          (turn + at) % 2 === 0 ? repository.create({ ...full(turn), id: 'same' }) : repository.delete('same')
        await work.catch(() => {})
      }
    }
    await inAcme(() => Promise.all(Array.from({ length: 8 }, again)))
    const types = (await events()).map(({ type }) => type)
    expect(types.length).to.be.greaterThan(20)
    for (const [i, type] of types.entries())
      expect(type, `event ${i}`).to.equal(i % 2 === 0 ? 'crate.created' : 'crate.deleted')
  })
})
