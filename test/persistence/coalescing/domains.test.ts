import { expect } from 'chai'
import { Column, type DataSource, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, TenantScoped } from '../../../decorators/index.js'
import { ErrNotFound } from '../../../lib/errors.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { asTenant, inAcme } from '../../conformance/repository/subject.js'
import { type Backend, databases, describeOn } from '../../support/databases/backends.js'
import { WatchedCalls } from './watched-calls.js'

@Resource({ existing: true })
@Entity('shelves')
@TenantScoped()
class Shelf {
  @PrimaryColumn() id!: string
  @Column() accountId!: string
  @Column() title!: string
  @ETag() etag!: string
}

const ShelfRepository = repositoryOf(Shelf)
const KEYS = Array.from({ length: 40 }, (_, i) => `s-${i}`)

class Shelves extends WatchedCalls {
  readonly shelves = new ShelfRepository(this.dataSource)

  static async open(backend: Backend): Promise<Shelves> {
    const { dataSource, close } = await backend.open([Shelf])
    const shelves = new Shelves(dataSource as DataSource, close)
    const statements = [
      `CREATE DOMAIN slug AS varchar(5) CHECK (VALUE ~ '^[a-z0-9-]+$')`,
      'CREATE DOMAIN mark AS text NOT NULL',
      'CREATE DOMAIN stamp AS mark',
      'CREATE TABLE shelves (id slug, account_id text, title slug, etag stamp, PRIMARY KEY (account_id, id))',
    ]
    for (const statement of statements) await shelves.dataSource.query(statement)
    await inAcme(() => Promise.all(KEYS.map((id) => shelves.shelves.create({ id, title: 'new' }))))
    await shelves.warmUp(() => inAcme(() => shelves.read(KEYS)))
    return shelves
  }

  read(keys: readonly string[]): Promise<PromiseSettledResult<Shelf>[]> {
    return Promise.allSettled(keys.map((key) => this.shelves.get(key)))
  }
}

const postgres = databases.filter(({ name }) => name === 'postgres')

describeOn('coalesced calls on columns of domains', postgres, (backend) => {
  let of: Shelves
  before(async () => {
    of = await Shelves.open(backend)
  })
  beforeEach(() => {
    of.sent = []
  })
  after(() => of?.close())

  it('find nothing for a key that the domain refuses, beside others that find their rows', async () => {
    const wrong = ['UPPER', 'too-long-for-it']
    const [rows, others] = await Promise.all([
      inAcme(() => of.read(KEYS)),
      asTenant('globex', () => of.read(wrong)),
    ])
    for (const [i, row] of rows.entries()) expect(row).to.have.nested.property('value.id', KEYS[i])
    for (const other of others) expect(other).to.have.property('reason').that.is.instanceOf(ErrNotFound)
    expect(of.sent.length).to.be.lessThan(KEYS.length / 2)
  })

  it('write what the domain takes, and fail alone with what it refuses', async () => {
    const titles = KEYS.map((_, i) => (i === 20 ? 'UPPER' : `t-${i}`))
    const update = (key: string, i: number) =>
      of.shelves.update(key, { title: titles[i] as string }, ['title'])
    const outcomes = await inAcme(() => Promise.allSettled(KEYS.map(update)))
    for (const [i, outcome] of outcomes.entries())
      if (i === 20) expect(outcome.status).to.equal('rejected')
      else expect(outcome).to.have.nested.property('value.title', titles[i])
    const stored = await inAcme(() => of.read(KEYS))
    for (const [i, row] of stored.entries())
      expect(row).to.have.nested.property('value.title', i === 20 ? 'new' : titles[i])
  })

  it('write without an etag where the domain wants one', async () => {
    const update = (key: string) => of.shelves.update(key, { title: 'other' }, ['title'])
    // Who has failed before goes out alone for a second.
    await new Promise((resolve) => setTimeout(resolve, 1000))
    await inAcme(() => Promise.all(KEYS.map(update)))
    expect(of.together).to.have.length.greaterThan(0)
    expect(of.sent.length).to.be.lessThan(KEYS.length / 2)
  })
})
