import { expect } from 'chai'
import { Column, type DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/resource.js'
import { Secret } from '../../../decorators/secret.js'
import { Searchable, type SearchableOptions } from '../../../decorators/searchable.js'
import { Tags } from '../../../decorators/tags.js'
import { TenantScoped } from '../../../decorators/tenant-scoped.js'
import { RequestContext } from '../../../lib/context.js'
import { DeclarationError, Unimplemented } from '../../../lib/errors.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { vectorOf } from '../../../lib/persistence/dialects/search-predicate.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { Parcel } from '../../support/entities/parcel.js'
import { Parcel_Size, ParcelSchema } from '../../support/gen/parcels_pb.js'
import { rejection } from '../../support/rejection.js'

const STATE = `{'ON': 'switched on', 'OFF': "switched off"}[msg.state]`

@Resource()
@Entity('devices')
@TenantScoped()
@Searchable({
  sources: [
    { sql: { postgres: `tags ->> 'site'` }, cel: `msg.tags['site']` },
    { cel: `msg.tags['-"shelf']` },
    { cel: `${STATE} + ' ' + (msg.title == '' ? 'untitled' : msg.title.replace('-', ' ').lowerAscii())` },
  ],
})
class Device {
  @PrimaryColumn() id!: string
  @Searchable() @Column() title!: string
  @Searchable() @Column({ type: String, nullable: true }) owner?: string
  @Column() state!: string
  @Tags() tags!: Record<string, string>
}

@Resource({ shared: true })
@Entity('reports')
@Searchable({ sources: [{ sql: { postgres: 'title' } }] })
class Report {
  @PrimaryColumn() id!: string
  @Column() title!: string
}

/** What is asked of a sample, and which words are found where it holds. */
const ASKED: readonly (readonly [condition: string, ids: string])[] = [
  ['msg.sealed', 'a'],
  ['!msg.sealed', 'b c'],
  ['msg.sealed == false', 'b c'],
  ['msg.sealed && msg.count > 1', 'a'],
  ['msg.count == 0', 'b c'],
  ['msg.count != 0', 'a'],
  ['msg.count < 3 && msg.count >= -1', 'a b c'],
  ['2 <= msg.count', 'a'],
  ['msg.count > msg.least', 'a'],
  ['msg.ratio == 0.1', 'a'],
  ['msg.ratio < 1e-3', 'b c'],
  ['msg.total == 9007199254740993', 'a'],
  ['msg.total > 9007199254740992', 'a'],
  ['(msg.count == 2) == msg.sealed', 'a b c'],
]

/** The same of an enum, whose field has to be in a message. */
const OF_ENUM: readonly (readonly [condition: string, ids: string])[] = [
  ['msg.size == LARGE', 'a'],
  ['msg.size != Parcel.Size.LARGE', 'b'],
  ['parcels.v1.Size.LARGE == msg.size', 'a'],
  ['msg.size == 2', 'a'],
  ['msg.size == SIZE_UNSPECIFIED', 'b'],
  ["msg.size == 'LARGE'", 'a'],
]

const sourcesOf = (asked: readonly (readonly [string, string])[]) => ({
  sources: asked.map(([condition], at) => ({ cel: `${condition} ? 'word${at + 10}' : ''` })),
})

@Resource({ shared: true })
@Entity('samples')
@Searchable(sourcesOf(ASKED))
class Sample {
  @PrimaryColumn() id!: string
  @Column({ type: Boolean, nullable: true }) sealed?: boolean
  @Column({ type: 'int', nullable: true }) count?: number
  @Column('int') least!: number
  @Column('real') ratio!: number
  @Column('bigint') total!: bigint
}

@Resource({ message: ParcelSchema })
@Entity('sized')
@TenantScoped()
@Searchable(sourcesOf(OF_ENUM))
class Sized extends Parcel {}

const context = new RequestContext({ principal: { tenant: 'acme', subject: 'ada', groups: [], scopes: [] } })

const DEVICES: readonly Partial<Device>[] = [
  { id: 'a', title: 'Pump-Station', owner: 'pia.lund@example.com', state: 'ON', tags: { site: 'Oslo' } },
  { id: 'b', title: 'Valve', state: 'OFF', tags: { '-"shelf': 'upstairs' } },
  { id: 'c', title: '', owner: 'build.example.org', state: 'ON', tags: { site: `O'Hare \\ "North"` } },
]

describeOn('search', databases, ({ name, open }) => {
  let dataSource: DataSource
  let devices: TypeormRepository<Device>
  let close: () => Promise<void>

  before(async () => {
    const backend = await open([Device, Report])
    dataSource = backend.dataSource as DataSource
    close = backend.close
    const query = (text: string, values?: unknown[]) =>
      dataSource.query(text.replaceAll('utf8mb4_0900_bin', 'utf8mb4_nopad_bin'), values)
    await createTables({ query }, [Device, Report], backend.database?.dialect.name ?? 'sqlite')
    devices = new TypeormRepository(dataSource, Device)
    for (const device of DEVICES) await devices.create(device, { context })
  })
  after(() => close?.())

  const found: readonly (readonly [string, string])[] = [
    ['', 'a b c'],
    ['  ', 'a b c'],
    ['valve', 'b'],
    ['VALVE', 'b'],
    ['pia.lund@example.com', 'a'],
    ['build.example.org', 'c'],
    ['oslo', 'a'],
    ['switched off', 'b'],
    ['untitled', 'c'],
    ['upstairs', 'b'],
    ['nothing like it', ''],
    [`x' OR 1=1 --`, ''],
    ['%', ''],
  ]
  for (const [term, ids] of found)
    it(`${JSON.stringify(term)} finds ${ids || 'nothing'}`, async () => {
      // The web-search syntax reads punctuation alone as no query at all, which finds nothing.
      const { items } = await devices.list({ search: term }, { context })
      expect(items.map(({ id }) => id).join(' ')).to.equal(ids)
    })

  it('finds letters outside of ASCII in any case, but for SQLite', async () => {
    await devices.create({ id: 'd', title: 'Éclair', state: 'OFF', tags: {} }, { context })
    const found = await Promise.all(
      ['Éclair', 'éclair'].map(async (search) => (await devices.list({ search }, { context })).items.length),
    )
    await devices.delete('d', { context })
    expect(found).to.deep.equal(name === 'sqlite' || name === 'better-sqlite3' ? [1, 0] : [1, 1])
  })

  it('is ANDed with the filter, and pages', async () => {
    const first = await devices.list({ search: 'switched on', filter: 'id != "b"', pageSize: 1 }, { context })
    const second = await devices.list(
      { search: 'switched on', filter: 'id != "b"', pageSize: 1, pageToken: first.nextPageToken },
      { context },
    )
    expect([...first.items, ...second.items].map(({ id }) => id)).to.deep.equal(['a', 'c'])
    expect(
      (await devices.list({ search: 'switched on', filter: 'id = "b"' }, { context })).items,
    ).to.deep.equal([])
  })

  it("never finds another tenant's row", async () => {
    const theirs = context.with({ principal: { tenant: 'globex', subject: 'bob', groups: [], scopes: [] } })
    expect((await devices.list({ search: 'valve' }, { context: theirs })).items).to.deep.equal([])
  })

  it('with a source for PostgreSQL alone is Unimplemented elsewhere', async () => {
    const reports = new TypeormRepository(dataSource, Report)
    await reports.create({ id: 'r', title: 'yearly' })
    expect((await reports.list({ search: '' })).items).to.have.length(1)
    if (name === 'postgres') expect((await reports.list({ search: 'yearly' })).items).to.have.length(1)
    else
      await rejection(
        reports.list({ search: 'yearly' }),
        Unimplemented,
        'full-text search for report requires PostgreSQL',
      )
  })
})

describeOn('conditions in portable expressions of search', databases, ({ name, open }) => {
  it('hold on each engine as in CEL, also of what is not set', async () => {
    const { dataSource, database, close } = await open([Sample, Sized])
    try {
      const query = (text: string, values?: unknown[]) =>
        (dataSource as DataSource).query(text.replaceAll('utf8mb4_0900_bin', 'utf8mb4_nopad_bin'), values)
      await createTables({ query }, [Sample, Sized], database?.dialect.name ?? 'sqlite')
      const samples = new TypeormRepository(dataSource as DataSource, Sample)
      const zero = { least: 0, ratio: 0, total: 0n }
      const set = { sealed: true, count: 2, least: 1, ratio: 0.1, total: 9_007_199_254_740_993n }
      await samples.create({ id: 'a', ...set }, { context })
      await samples.create({ id: 'b', sealed: false, count: 0, ...zero }, { context })
      await samples.create({ id: 'c', ...zero }, { context })
      for (const [at, [condition, ids]] of ASKED.entries()) {
        const { items } = await samples.list({ search: `word${at + 10}`, orderBy: 'id' }, { context })
        expect(items.map(({ id }) => id).join(' '), `${condition} on ${name}`).to.equal(ids)
      }
      const sized = new TypeormRepository(dataSource as DataSource, Sized)
      for (const [id, size] of [
        ['a', Parcel_Size.LARGE],
        ['b', Parcel_Size.SIZE_UNSPECIFIED],
      ] as const)
        await sized.create({ id, size, lines: [], stamps: {} }, { context })
      for (const [at, [condition, ids]] of OF_ENUM.entries()) {
        const { items } = await sized.list({ search: `word${at + 10}`, orderBy: 'id' }, { context })
        expect(items.map(({ id }) => id).join(' '), `${condition} on ${name}`).to.equal(ids)
      }
    } finally {
      await close()
    }
  })
})

describe('search in memory', () => {
  it('ignores the term', async () => {
    const devices = new MemoryRepository(Device)
    for (const device of DEVICES) await devices.create(device, { context })
    expect((await devices.list({ search: 'valve' }, { context })).items).to.have.length(3)
  })
})

describe('@Searchable', () => {
  const problemsOf = (options: SearchableOptions, property?: 'count' | 'token') => {
    @Resource({ shared: true })
    @Entity()
    @Searchable(options)
    class Thing {
      @PrimaryColumn() id!: string
      @Column() title!: string
      @Column() count!: number
      @Secret() token?: Secret
    }
    if (property !== undefined) Searchable()(Thing.prototype, property)
    try {
      return resourceModel(Thing) && ''
    } catch (error) {
      if (error instanceof DeclarationError) return error.problems.join('\n')
      throw error
    }
  }

  it('takes a property in either spelling, raw SQL and CEL', () => {
    expect(
      problemsOf({
        sources: ['title', { sql: { postgres: "lower(title) || ' x'" } }, { cel: 'msg.title' }],
        textConfig: 'english',
      }),
    ).to.equal('')
  })

  const refused: readonly (readonly [SearchableOptions, RegExp])[] = [
    [{}, /no source/],
    [{ sources: ['nope'] }, /no property nope/],
    [{ sources: ['count'] }, /only strings/],
    [{ sources: ['token'] }, /never searched/],
    [{ sources: ['title'], textConfig: "simple'; DROP" }, /text search configuration/],
    [{ sources: ['title'], textConfig: 'Simple' }, /text search configuration/],
    [{ sources: [{ sql: { postgres: '' } }] }, /empty/],
    [{ sources: [{ sql: { postgres: 'title; DROP TABLE x' } }] }, /one expression/],
    [{ sources: [{ sql: { postgres: 'title -- x' } }] }, /one expression/],
    [{ sources: [{ sql: { postgres: 'title) || (title' } }] }, /unbalanced/],
    [{ sources: [{ sql: { postgres: '(SELECT title FROM x)' } }] }, /SELECT/],
    [{ sources: [{ sql: { postgres: 'title || now()' } }] }, /now, which is not immutable/],
    [{ sources: [{ sql: { postgres: "concat_ws(' ', title)" } }] }, /not immutable/],
    [{ sources: [{ sql: { postgres: 'token_hash' } }] }, /secret/],
    [{ sources: [{ sql: { postgres: '"token_cipher"' } }] }, /secret/],
    [{ sources: [{ cel: 'msg.token' }] }, /no field token/],
    [{ sources: [{ cel: 'msg.token_hash' }] }, /no field token_hash/],
    [{ sources: [{ cel: 'msg.count' }] }, /count is int32: a number can be compared, but is not a string/],
    [{ sources: [{ cel: 'msg.count ? "a" : "b"' }] }, /a string is used, but a condition/],
    [{ sources: [{ cel: 'msg.count == "1" ? "a" : "b"' }] }, /count is int32, and "1" is not a number/],
    [{ sources: [{ cel: 'msg.count < 1.5 ? "a" : "b"' }] }, /count takes an integer/],
    [{ sources: [{ cel: 'msg.title < "b" ? "a" : "b"' }] }, /< compares numbers/],
    [
      { sources: [{ cel: 'msg.title == OPEN ? "a" : "b"' }] },
      /OPEN is not supported: fields are written msg/,
    ],
    [{ sources: [{ cel: '1 == 1 ? "a" : "b"' }] }, /a value that is not a number/],
    [{ sources: [{ cel: 'msg.title.size()' }] }, /size is not supported/],
    [{ sources: [{ cel: 'msg.title == "x"' }] }, /a condition is used, but a string/],
    [{ sources: [{ cel: 'msg.title ? "a" : "b"' }] }, /a string is used, but a condition/],
    [{ sources: [{ cel: '"open' }] }, /not supported/],
    [{ sources: [{ cel: 'msg.title +' }] }, /expression is incomplete/],
    [{ sources: [{ cel: 'title' }] }, /msg\.<field>/],
    [{ sources: [{ cel: '{"a": "b"}' }] }, /expression is incomplete/],
  ]
  for (const [options, why] of refused)
    it(`refuses ${JSON.stringify(options)}`, () => {
      expect(problemsOf(options)).to.match(why)
    })

  it('refuses a property that is not a string', () => {
    expect(problemsOf({}, 'count')).to.match(/only strings/)
    expect(problemsOf({}, 'token')).to.match(/never searched/)
  })

  it('makes a vector of coalesced sources joined by single spaces', () => {
    const { search } = resourceModel(Device)
    expect(vectorOf(search as never)).to.match(
      /^to_tsvector\('simple'::regconfig, translate\(COALESCE\("title", ''\) \|\| ' ' \|\| COALESCE/,
    )
  })
})
