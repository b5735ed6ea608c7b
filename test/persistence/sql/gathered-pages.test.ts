import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { CreateTime } from '../../../decorators/server-set.js'
import { Resource } from '../../../decorators/resource.js'
import { SoftDeletable } from '../../../decorators/soft-deletable.js'
import { Tags } from '../../../decorators/tags.js'
import { TenantScoped } from '../../../decorators/tenant-scoped.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { inAcme } from '../../conformance/repository/subject.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'

/** Without a number of floating point, so that SQLite can gather its pages. */
@Resource()
@Entity('parts')
@TenantScoped()
@SoftDeletable()
class Part {
  @PrimaryColumn() id!: string
  @Column('text') text!: string
  @Column() count!: number
  @Column('bigint') big!: bigint
  @Column() active!: boolean
  @Column('simple-json', { nullable: true }) shape?: object
  @Tags() tags!: Record<string, string>
  @Column({ nullable: true }) dueTime?: Date
  @CreateTime({ filterable: true }) createTime!: Date
  accountId!: string
  deleteTime?: Date
}

const EMPTY = { text: '', count: 0, big: 0n, active: false, tags: {} }
const ROWS: readonly Partial<Part>[] = [
  EMPTY,
  { text: 'quotes " \' ` \\ / and \n \t \u2028', count: -(2 ** 31), big: -(2n ** 63n), active: true },
  { text: '🪨 é \ud7ff \uffff [1, "2"] null', count: 2 ** 31 - 1, big: 2n ** 63n - 1n, active: true },
  { text: 'null', shape: { deep: [{ a: null, b: '"' }], n: 1e21 }, tags: { 'a "b"': '{"c":1}', é: '\\' } },
  { text: '[]', shape: [], dueTime: new Date('2024-02-29T01:02:03.004Z') },
]

const sql = databases.filter(({ name }) => ['sqlite', 'better-sqlite3', 'postgres', 'mariadb'].includes(name))

describeOn('a page', sql, (backend) => {
  let opened: OpenBackend
  let parts: TypeormRepository<Part>
  let sent: string[] = []

  before(async () => {
    opened = await backend.open([Part])
    const { dataSource, database } = opened
    if (dataSource === undefined || database === undefined) throw new TypeError('no database')
    await createTables(dataSource, [Part], database.dialect.name)
    parts = new TypeormRepository(dataSource, Part)
    const { run } = database
    database.run = (statement, ...rest) => (sent.push(statement.text), run.call(database, statement, ...rest))
  })
  after(() => opened?.close())

  it('has the rows that are read one by one', () =>
    inAcme(async () => {
      for (const [i, row] of ROWS.entries()) await parts.create({ ...EMPTY, ...row, id: `p${i}` })
      sent = []
      const { items } = await parts.list({ orderBy: 'create_time' })
      const [text = ''] = sent
      expect(text.includes('AS gathered'), text).to.equal(backend.name.includes('sqlite'))
      const alone = await Promise.all(items.map(({ id }) => parts.get(id)))
      expect(items.map(({ id }) => id)).to.deep.equal(ROWS.map((_, i) => `p${i}`))
      expect(items).to.deep.equal(alone)
      for (const [i, row] of ROWS.entries()) expect(items[i]).to.deep.include(row)
    }))

  it('has its token and its end, also where it is empty', () =>
    inAcme(async () => {
      const ids: string[] = []
      for (let pageToken = '', pages = 0; pages === 0 || pageToken !== ''; pages++) {
        const page = await parts.list({ orderBy: 'create_time', pageSize: 2, pageToken })
        ids.push(...page.items.map(({ id }) => id))
        pageToken = page.nextPageToken
      }
      expect(ids).to.deep.equal(ROWS.map((_, i) => `p${i}`))
      const none = await parts.list({ filter: 'create_time < "2000-01-01T00:00:00Z"' })
      expect(none).to.deep.equal({ items: [], nextPageToken: '' })
    }))

  it('is read row by row where its texts are too large for one', function () {
    return inAcme(async () => {
      const text = 'x'.repeat(1_000_000)
      for (let i = 0; i < 20; i++) await parts.create({ ...EMPTY, id: `large${i}`, text })
      sent = []
      const { items } = await parts.list({ orderBy: 'create_time' })
      expect(sent).to.have.length(backend.name.includes('sqlite') ? 2 : 1)
      expect(items.filter((item) => item.text === text)).to.have.length(20)
    })
  })
})
