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
    [{ sources: ['count'] }, /only text/],
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
    [{ sources: [{ cel: 'msg.count' }] }, /only strings/],
    [{ sources: [{ cel: 'msg.title.size()' }] }, /size is not supported/],
    [{ sources: [{ cel: 'msg.title == "x"' }] }, /condition stands where text/],
    [{ sources: [{ cel: 'msg.title ? "a" : "b"' }] }, /text stands where a condition/],
    [{ sources: [{ cel: '"open' }] }, /not supported/],
    [{ sources: [{ cel: 'msg.title +' }] }, /ends too early/],
    [{ sources: [{ cel: 'title' }] }, /msg\.<field>/],
    [{ sources: [{ cel: '{"a": "b"}' }] }, /ends too early/],
  ]
  for (const [options, why] of refused)
    it(`refuses ${JSON.stringify(options)}`, () => {
      expect(problemsOf(options)).to.match(why)
    })

  it('refuses a property that is no text', () => {
    expect(problemsOf({}, 'count')).to.match(/only text/)
    expect(problemsOf({}, 'token')).to.match(/never searched/)
  })

  it('makes a vector of coalesced sources joined by single spaces', () => {
    const { search } = resourceModel(Device)
    expect(vectorOf(search as never)).to.match(
      /^to_tsvector\('simple'::regconfig, translate\(COALESCE\("title", ''\) \|\| ' ' \|\| COALESCE/,
    )
  })
})
