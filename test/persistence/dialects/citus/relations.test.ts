import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { type SentStatement, watchStatements } from '../../../../lib/persistence/engines/watch-statements.js'
import { TypeormRepository } from '../../../../lib/persistence/sql/typeorm-repository.js'
import { asTenant } from '../../../conformance/repository/subject.js'
import { Bee, Hive } from '../../relations/hives.js'
import { type Spread } from '../../../support/databases/citus/cluster.js'
import { describeDistributed, opened, withTables } from './distributed.js'

const TENANTS = ['acme', 'globex', 'initech', 'umbrella']

describeDistributed('a database whose tables are on several servers', (open) => {
  let close: () => Promise<void>
  let dataSource: DataSource
  let hives: TypeormRepository<Hive>
  const sent: SentStatement[] = []

  before(async () => {
    ;({ dataSource, close } = await opened(open, [Hive, Bee]))
    hives = new TypeormRepository(dataSource, Hive)
    const bees = new TypeormRepository(dataSource, Bee)
    for (const tenant of TENANTS)
      await asTenant(tenant, async () => {
        for (const id of ['b1', 'b2']) await hives.create({ id })
        await bees.create({ id: `bee of ${tenant}`, hiveId: 'b1' })
      })
    watchStatements(dataSource, (statement) => sent.push(statement))
  })
  beforeEach(() => sent.splice(0))
  after(() => close?.())

  it('lists relations by values, and not by what a setting keeps', async () => {
    for (const tenant of TENANTS)
      await asTenant(tenant, async () => {
        const { items } = await hives.list({ with: ['bees'] })
        expect(items.map(({ id, bees }) => [id, bees?.map((bee) => bee.id)])).to.deep.equal([
          ['b1', [`bee of ${tenant}`]],
          ['b2', []],
        ])
      })
    expect(sent).to.have.length(2 * TENANTS.length)
    for (const { text } of sent) expect(text).to.not.match(/set_config|current_setting/)
  })

  it('sends each call alone', async () => {
    const gets = () =>
      TENANTS.flatMap((tenant) => Array.from({ length: 20 }, () => asTenant(tenant, () => hives.get('b1'))))
    for (let round = 0; round < 3; round++) await Promise.all(gets())
    const calls = sent.filter(({ text }) => text.includes('"hives"'))
    expect(calls.map(({ calls: carried }) => carried).filter((carried) => carried !== 1)).to.deep.equal([])
    expect(calls).to.have.length(3 * 20 * TENANTS.length)
    for (const { values } of calls)
      expect(values.some((value) => TENANTS.includes(value as string))).to.equal(true)
  })
})

describeDistributed(
  'a process that runs while tables are distributed',
  (open) => {
    let server: Spread
    let dataSource: DataSource

    before(async () => {
      server = await open()
      ;({ dataSource } = await withTables(server, [Hive, Bee]))
    })
    after(async () => {
      await dataSource?.destroy()
      await server?.drop()
    })

    it('lists the relations of existing rows before, meanwhile and afterwards', async () => {
      const hives = new TypeormRepository(dataSource, Hive)
      const bees = new TypeormRepository(dataSource, Bee)
      for (const tenant of TENANTS)
        await asTenant(tenant, async () => {
          await hives.create({ id: 'b1' })
          for (let i = 0; i < 3; i++) await bees.create({ id: `bee ${i}`, hiveId: 'b1' })
        })
      const check = async () => {
        for (const tenant of TENANTS)
          await asTenant(tenant, async () => {
            const { items: full } = await hives.list({ with: ['bees'] })
            expect(full.map((hive) => hive.bees?.length)).to.deep.equal([3])
            const { items } = await bees.list({ with: ['hive'] })
            expect(items.map(({ hive }) => hive?.id)).to.deep.equal(['b1', 'b1', 'b1'])
          })
      }
      for (let round = 0; round < 3; round++) await Promise.all([check(), check(), check()])
      await server.spread(dataSource)
      for (let round = 0; round < 3; round++) await Promise.all([check(), check(), check()])
    })
  },
  { isLate: true },
)
