import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn, type Relation } from 'typeorm'
import {
  CreateTime,
  Resource,
  SoftDeletable,
  Tags,
  TenantScoped,
  UpdateTime,
} from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { type SentStatement, watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { databases, describeOn, type OpenBackend, pooled } from '../../support/databases/backends.js'

@Resource()
@Entity('quarries')
@TenantScoped()
class Quarry {
  @PrimaryColumn() id!: string
  @OneToMany(() => Pebble, (pebble) => pebble.quarry) pebbles?: Relation<Pebble>[]
  @OneToMany(() => Boulder, (boulder) => boulder.quarry) boulders?: Relation<Boulder>[]
  accountId!: string
}

/** The kinds that every engine writes into JSON as they are. */
@Resource()
@Entity('pebbles')
@TenantScoped()
@SoftDeletable()
class Pebble {
  @PrimaryColumn() id!: string
  @Column('text') title!: string
  @Column({ type: 'text', nullable: true }) note?: string
  @Column() active!: boolean
  @Column() count!: number
  @Column('bigint') big!: bigint
  @Column({ nullable: true }) dueTime?: Date
  @Column('simple-json') labels!: Record<string, string>
  @Tags() tags!: Record<string, string>
  @Column() quarryId!: string
  @ManyToOne(() => Quarry, (quarry) => quarry.pebbles)
  @JoinColumn({ name: 'quarry_id' })
  quarry?: Relation<Quarry>
  @CreateTime() createTime!: Date
  @UpdateTime() updateTime!: Date
  accountId!: string
  deleteTime?: Date
}

/** Kinds that lose something in the JSON of one engine or another. */
@Resource()
@Entity('boulders')
@TenantScoped()
class Boulder {
  @PrimaryColumn() id!: string
  @Column('real') ratio!: number
  @Column('double precision') score!: number
  @Column({ type: String }) blob!: Uint8Array
  @Column() quarryId!: string
  @ManyToOne(() => Quarry, (quarry) => quarry.boulders)
  @JoinColumn({ name: 'quarry_id' })
  quarry?: Relation<Quarry>
  accountId!: string
}

@Resource()
@Entity('loads')
@TenantScoped()
class Load {
  @PrimaryColumn() id!: string
  @Column() pebbleId!: string
  @ManyToOne(() => Pebble) @JoinColumn({ name: 'pebble_id' }) pebble?: Relation<Pebble>
  @Column() boulderId!: string
  @ManyToOne(() => Boulder) @JoinColumn({ name: 'boulder_id' }) boulder?: Relation<Boulder>
  accountId!: string
}

const ENTITIES = [Quarry, Pebble, Boulder, Load] as const

const TEXTS = [
  '',
  'null',
  '"quoted" and \\ and /',
  "it's",
  'lines\nand\ttabs\r',
  '\u0001\u001f\u007f',
  '\u2028\u2029',
  'ünï 🏰 文字',
  '[1,2]',
  '{"a":1}',
  ' spaces ',
]

/** What an array of texts has to quote is part of some. */
const KEYS = ['', '"', '\\', ',', '{}', 'NULL', '\n', "'", '🏰', ' ']

const pebble = (n: number) => ({
  id: `${String(n).padStart(2, '0')}${KEYS[n % KEYS.length]}`,
  title: TEXTS[n % TEXTS.length] as string,
  ...(n % 2 === 0 && { note: TEXTS[(n + 5) % TEXTS.length] as string }),
  active: n % 3 === 0,
  count: [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)][n % 5] as number,
  big: [0n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)][n % 4] as bigint,
  ...(n % 4 !== 1 && { dueTime: new Date(Date.UTC(1970 + 3 * n, n % 12, 1 + (n % 28), n, n, n, n * 37)) }),
  labels: { one: TEXTS[n % TEXTS.length] as string, two: 'two' },
  tags: { plain: 'x', 'ä"\\': TEXTS[n % TEXTS.length] as string },
  quarryId: 'q',
})

const boulder = (n: number) => ({
  id: `boulder-${String(n).padStart(2, '0')}`,
  ratio: Math.fround([0, 0.1, -1e-30, 3e38][n % 4] as number),
  score: [0, 0.1, 1 / 3, 5e-324, Number.MAX_VALUE, -0.30000000000000004][n % 6] as number,
  blob: Uint8Array.from([0, n, 255, 34, 92]),
  quarryId: 'q',
})

const COUNT = 24

describeOn('values of what a relation leads to', [...databases, ...pooled], (backend) => {
  let opened: OpenBackend
  let pebbles: TypeormRepository<Pebble>
  let boulders: TypeormRepository<Boulder>
  let loads: TypeormRepository<Load>
  let quarries: TypeormRepository<Quarry>

  const inAcme = <T>(fn: () => Promise<T>): Promise<T> =>
    RequestContext.as({ subject: 'ada', tenant: 'acme', groups: [] }, fn)

  before(async () => {
    opened = await backend.open([...ENTITIES])
    const dataSource = opened.dataSource as DataSource
    await createTables(collated(dataSource, backend), [...ENTITIES], opened.database!.dialect.name)
    pebbles = new TypeormRepository(dataSource, Pebble)
    boulders = new TypeormRepository(dataSource, Boulder)
    loads = new TypeormRepository(dataSource, Load)
    quarries = new TypeormRepository(dataSource, Quarry)
    await inAcme(async () => {
      await quarries.create({ id: 'q' })
      for (let n = 0; n < COUNT; n++) {
        await pebbles.create(pebble(n))
        await boulders.create(boulder(n))
        await loads.create({ id: `load-${n}`, pebbleId: pebble(n).id, boulderId: boulder(n).id })
      }
    })
  })
  after(() => opened?.close())

  const all = () => inAcme(() => pebbles.list({ pageSize: 100 }).then(({ items }) => items))

  it('are those that the resource has by itself, and so is the order of its properties', async () => {
    const [own, heavy] = [await all(), await inAcme(() => boulders.list({ pageSize: 100 }))]
    const { items } = await inAcme(() => loads.list({ pageSize: 100, with: ['pebble', 'boulder'] }))
    expect(items).to.have.length(COUNT)
    for (const load of items) {
      const [one] = own.filter(({ id }) => id === load.pebbleId)
      expect(load.pebble).to.deep.equal(one)
      expect(Object.keys(load.pebble ?? {})).to.deep.equal(Object.keys(one ?? {}))
      expect(load.boulder).to.deep.equal(heavy.items.find(({ id }) => id === load.boulderId))
    }
    expect(own.map(({ title }) => title)).to.include.members(TEXTS)
  })

  it('are those of each of several', async () => {
    const { items } = await inAcme(() => quarries.list({ with: ['pebbles', 'boulders'] }))
    expect(items[0]?.pebbles).to.deep.equal(await all())
    expect(items[0]?.boulders?.map(({ score }) => score)).to.deep.equal(
      Array.from({ length: COUNT }, (_, n) => boulder(n).score),
    )
  })

  it('come with a page of any columns in its order, and with the next one', async () => {
    const read = async (pageToken = '') =>
      inAcme(() => boulders.list({ orderBy: 'id desc', pageSize: 10, pageToken, with: ['quarry'] }))
    const first = await read()
    const second = await read(first.nextPageToken)
    const items = [...first.items, ...second.items]
    const expected = Array.from({ length: 20 }, (_, n) => boulder(COUNT - 1 - n))
    expect(
      items.map(({ id, score, ratio, blob }) => ({ id, ratio, score, blob, quarryId: 'q' })),
    ).to.deep.equal(expected)
    expect(items.map(({ quarry }) => quarry?.id)).to.deep.equal(expected.map(() => 'q'))
    const none = await inAcme(() => loads.list({ filter: 'id = "none"', with: ['pebble', 'boulder'] }))
    expect(none.items).to.deep.equal([])
  })

  if (backend.name === 'postgres')
    it('are found by keys that PostgreSQL reads once, and not for every row', async () => {
      const dataSource = opened.dataSource as DataSource
      const sent: SentStatement[] = []
      const stop = watchStatements(dataSource, (statement) => void sent.push(statement))
      await inAcme(() => quarries.list({ with: ['pebbles', 'boulders'] })).finally(stop)
      expect(sent).to.have.length(3)
      for (const { text, values } of sent.slice(1)) {
        const plan: { 'QUERY PLAN': string }[] = await dataSource.query(`EXPLAIN ${text}`, [...values])
        const lines = plan.map((line) => line['QUERY PLAN']).join('\n')
        expect(text).to.include('current_setting')
        expect(lines).to.include('InitPlan').and.not.include('current_setting')
      }
    })

  it('are those of each page, of many that are read at the same time', async () => {
    const read = async (n: number) => {
      const filter = `id = "load-${n % COUNT}"`
      const { items } = await inAcme(() => loads.list({ filter, with: ['pebble', 'boulder'] }))
      return items.map((load) => [load.pebble?.id, load.boulder?.id])
    }
    for (let round = 0; round < 4; round++) {
      const found = await Promise.all(Array.from({ length: 40 }, (_, n) => read(n)))
      for (const [n, pages] of found.entries())
        expect(pages).to.deep.equal([[pebble(n % COUNT).id, boulder(n % COUNT).id]])
    }
  })

  it('are the same times where another writer has stored them', async () => {
    const { name } = backend
    const times: readonly string[] =
      name === 'postgres' || name === 'pgbouncer'
        ? ["'infinity'", "'-infinity'", "'0044-03-15 12:00:00.25+00 BC'", "'2024-02-29 01:02:03.004005'"]
        : name === 'sqlite' || name === 'better-sqlite3'
          ? ["'2024-02-29'", "'tomorrow'", '1709168523', "x'00ff'", '-1.5']
          : ["'9999-12-31 23:59:59.999999'", "'2024-02-29 01:02:03.004005'"]
    for (const [n, time] of times.entries())
      await (opened.dataSource as DataSource).query(
        `UPDATE pebbles SET due_time = ${time} WHERE id LIKE '${String(n).padStart(2, '0')}%'`,
      )
    const own = new Map((await all()).map((one) => [one.id, one.dueTime]))
    const { items } = await inAcme(() => loads.list({ pageSize: 100, with: ['pebble'] }))
    for (const { pebbleId, pebble: read } of items) expect(read?.dueTime).to.deep.equal(own.get(pebbleId))
  })
})
