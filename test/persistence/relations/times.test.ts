import { expect } from 'chai'
import { Column, type DataSource, Entity, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { inAcme } from '../../conformance/repository/subject.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'

@Resource()
@Entity('observatories')
@TenantScoped()
class Observatory {
  @PrimaryColumn() id!: string
  @Column({ nullable: true }) openTime?: Date
  accountId!: string
}

@Resource()
@Entity('eclipses')
@TenantScoped()
class Eclipse {
  @PrimaryColumn() id!: string
  @Column({ nullable: true }) startTime?: Date
  @Column() observatoryId!: string
  @ManyToOne(() => Observatory)
  @JoinColumn({ name: 'observatory_id' })
  observatory?: Relation<Observatory>
  accountId!: string
}

/** In their order. Neighbours of one millisecond differ to the microsecond. */
const USUAL = [
  '1714-07-29 00:12:25.259009',
  '1969-12-31 23:59:59.998999',
  '1969-12-31 23:59:59.999',
  '1969-12-31 23:59:59.999999',
  '1970-01-01 00:00:00',
  '1999-12-31 23:59:59.999999',
  '2000-01-01 00:00:00.000001',
  '2026-11-25 10:00:00.123456',
  '2026-11-25 10:00:00.123457',
  '2285-06-04 23:47:34.740991',
]
/**
 * Times that a number in JavaScript does not hold to the microsecond, those that no Timestamp holds, and
 * infinities.
 */
const BEFORE = [
  '-infinity',
  '4001-02-29 00:00:00+00 BC',
  '0001-01-01 00:00:00',
  '0999-12-31 23:59:59.000001',
  '1000-01-01 00:00:00.000001',
  '1714-07-29 00:12:25.259007',
  '1714-07-29 00:12:25.259008',
]
const BEHIND = [
  '2285-06-04 23:47:34.740992',
  '2285-06-04 23:47:34.740993',
  '9999-12-31 23:59:59.998999',
  '9999-12-31 23:59:59.999',
  '9999-12-31 23:59:59.999999',
  '10000-01-01 00:00:00',
  'infinity',
]

const engines = databases.filter(({ name }) => name === 'postgres' || name === 'mariadb')

describeOn('times of a page with relations', engines, (backend) => {
  let opened: OpenBackend
  let eclipses: TypeormRepository<Eclipse>
  let observatories: TypeormRepository<Observatory>
  before(async () => {
    opened = await backend.open([Observatory, Eclipse])
    const dataSource = opened.dataSource as DataSource
    const name = opened.database?.dialect.name ?? 'postgres'
    await createTables(collated(dataSource, backend), [Observatory, Eclipse], name)
    observatories = new TypeormRepository(dataSource, Observatory)
    eclipses = new TypeormRepository(dataSource, Eclipse)
    await inAcme(() => observatories.create({ id: 'none' }))
  })
  after(() => opened?.close())

  const stored = async (times: readonly string[]) => {
    const { dataSource } = opened
    await dataSource?.query('DELETE FROM eclipses')
    await dataSource?.query(`DELETE FROM observatories WHERE id <> 'none'`)
    for (const [n, time] of times.entries()) {
      await dataSource?.query(
        `INSERT INTO observatories (account_id, id, open_time) VALUES ('acme', 'o${n}', '${time}')`,
      )
      await dataSource?.query(
        `INSERT INTO eclipses (account_id, id, start_time, observatory_id) VALUES ('acme', 'e${n}', '${time}', 'o${n}')`,
      )
    }
    await inAcme(() => eclipses.create({ id: 'last', observatoryId: 'none' }))
  }

  const paged = async (orderBy: string) => {
    const ids: string[] = []
    for (let pageToken = '', pages = 0; pages === 0 || pageToken !== ''; pages++) {
      const page = await eclipses.list({ orderBy, pageSize: 2, pageToken, with: ['observatory'] })
      ids.push(...page.items.map(({ id }) => id))
      pageToken = page.nextPageToken
    }
    return ids
  }

  const whole = (times: readonly string[]) =>
    inAcme(async () => {
      await stored(times)
      const { items } = await eclipses.list({ orderBy: 'start_time', with: ['observatory'] })
      const order = [...times.map((_, n) => `e${n}`), 'last']
      expect(items.map(({ id }) => id)).to.deep.equal(order)
      for (const { observatory, ...item } of items) {
        const { observatory: _, ...alone } = await eclipses.get(item.id)
        expect(item).to.deep.equal(alone)
        expect(observatory).to.deep.equal(await observatories.get(item.observatoryId))
        expect(observatory?.openTime).to.deep.equal(item.startTime)
      }
      expect(await paged('start_time')).to.deep.equal(order)
      expect(await paged('start_time desc')).to.deep.equal(order.toReversed())
    })

  const statementsOfPage = async () => {
    const sent: string[] = []
    const stop = watchStatements(opened.dataSource as DataSource, ({ text }) => sent.push(text))
    await inAcme(() => eclipses.list({ with: ['observatory'] })).finally(stop)
    return sent.length
  }

  it('are those of rows that are read alone, and pages follow one another to the microsecond', async () => {
    await whole(USUAL)
    expect(await statementsOfPage()).to.equal(2)
  })

  if (backend.name === 'postgres')
    it('are so also where a number does not hold them, or no Timestamp does', async () => {
      await whole([...BEFORE, ...USUAL, ...BEHIND])
      expect(await statementsOfPage()).to.equal(2)
    })

  it('take no other statement where there are none', async () => {
    await opened.dataSource?.query('DELETE FROM eclipses')
    expect(await statementsOfPage()).to.equal(backend.name === 'postgres' ? 2 : 1)
    expect(await inAcme(() => eclipses.list({ with: ['observatory'] }))).to.deep.equal({
      items: [],
      nextPageToken: '',
    })
  })

  if (backend.name === 'postgres')
    it('leave nothing behind in the session', async () => {
      await stored(USUAL)
      await statementsOfPage()
      const settings = ['kept_0', 'text_0'].map((name) => `current_setting('ashlar.${name}', true)`)
      for (let i = 0; i < 10; i++) {
        const found: unknown = await opened.dataSource?.query(`SELECT concat(${settings.join(', ')}) AS kept`)
        expect(found).to.deep.equal([{ kept: '' }])
      }
    })

  if (backend.name === 'postgres')
    it('may be in a column of texts', async () => {
      await stored(USUAL)
      const { items } = await inAcme(() => eclipses.list({ with: ['observatory'] }))
      for (const table of ['eclipses ALTER start_time', 'observatories ALTER open_time'])
        await opened.dataSource?.query(`ALTER TABLE ${table} TYPE text`)
      expect((await inAcme(() => eclipses.list({ with: ['observatory'] }))).items).to.deep.equal(items)
    })
})
