import { expect } from 'chai'
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../../decorators/index.js'
import { createTables } from '../../../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../../../lib/persistence/sql/typeorm-repository.js'
import { asTenant } from '../../../conformance/repository/subject.js'
import { databases, describeOn } from '../../../support/databases/backends.js'
import { HOSTILE, pooledDatabase } from '../../../support/databases/pooled-database.js'
import { testDatabase } from '../../../support/databases/test-database.js'
import { serviceUrl } from '../../../support/running/services.js'
import { sendTo } from '../../../support/databases/citus/cluster.js'
import { describeDistributed, LISTED, opened } from './distributed.js'

@Resource()
@Entity('gauges')
@TenantScoped()
class Gauge {
  @PrimaryColumn() id!: string
  @Column('double precision') level!: number
  accountId!: string
}

const DIGITS = `SELECT current_setting('extra_float_digits') AS digits`

const roundFloats = (url: string) =>
  sendTo(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET extra_float_digits = 0`)

describeDistributed('floats of distributed tables', (open) => {
  it('are stored exactly, whatever the database sets', async () => {
    const server = await open()
    await roundFloats(server.url)
    const { dataSource, close } = await opened(() => Promise.resolve(server), [Gauge])
    try {
      const gauges = new TypeormRepository(dataSource, Gauge)
      const level = 0.1 + 0.2
      await asTenant('acme', () => gauges.create({ id: 'g1', level }))
      expect((await asTenant('acme', () => gauges.get('g1'))).level).to.equal(level)
      expect(await gauges.startUpCheck()).to.deep.equal({ problems: [], warnings: [] })
    } finally {
      await close()
    }
  })
})

const postgres = databases.filter(({ name }) => name === 'postgres')

describeOn('extra_float_digits', postgres, () => {
  const checked = async (url: string) => {
    const dataSource = await new DataSource({
      type: 'postgres',
      url,
      entities: [Gauge],
      poolSize: 1,
    }).initialize()
    try {
      await createTables(dataSource, [Gauge], 'postgres')
      const { warnings } = await new TypeormRepository(dataSource, Gauge).startUpCheck()
      return { warnings, digits: await dataSource.query<unknown>(DIGITS) }
    } finally {
      await dataSource.destroy()
    }
  }

  it('is not set on PostgreSQL', async () => {
    const { url, drop } = await testDatabase('postgres')
    await roundFloats(url)
    expect(await checked(url)).to.deep.equal({ warnings: [], digits: [{ digits: '0' }] })
    await drop()
  })

  it('is reported at startup behind a pooler, and not set', async function () {
    if (serviceUrl('pgbouncer') === undefined) return this.skip()
    const { url, drop } = await pooledDatabase()
    await sendTo(url, LISTED.join('; '))
    const { warnings, digits } = await checked(url)
    expect(digits).to.deep.equal([{ digits: HOSTILE.extra_float_digits }])
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.match(/^Gauge\.level: .*ALTER DATABASE … SET extra_float_digits = 1$/)
    await drop()
  })
})
