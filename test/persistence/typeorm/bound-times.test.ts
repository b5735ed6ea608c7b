import { expect } from 'chai'
import { Column, Entity, In, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { transaction } from '../../../lib/persistence/sql/transaction.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'

@Resource({ shared: true })
@Entity('moments')
class Moment {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ nullable: true }) at?: Date
}

/** Zones whose offsets had seconds, half hours, or changed with the season. */
const ZONES = ['Europe/Amsterdam', 'Asia/Kolkata', 'Africa/Monrovia', 'America/St_Johns']
const TIMES = [
  '1000-01-01T00:00:00.000Z',
  '1582-10-10T12:00:00.001Z',
  '1890-01-01T00:00:00.000Z',
  '1936-12-31T23:40:28.000Z',
  '2026-03-29T01:30:00.007Z',
  '9999-12-31T23:59:59.999Z',
].map((iso) => new Date(iso))

describeOn('times in a transaction', databases, ({ open }) => {
  let backend: OpenBackend
  const zone = process.env['TZ']
  before(async () => {
    backend = await open([Moment])
    const { dataSource, database } = backend
    await createTables(dataSource!, [Moment], database!.dialect.name)
  })
  afterEach(() => {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  })
  after(() => backend?.close())

  for (const name of ZONES)
    it(`are the same instant through a repository, sql and manager in ${name}`, async () => {
      process.env['TZ'] = name
      const repository = new (repositoryOf(Moment))(backend.dataSource!)
      await RequestContext.as({ tenant: 'acme', subject: 'ada' }, () =>
        transaction(backend.database!, async ({ sql, manager }) => {
          for (const [index, at] of TIMES.entries()) {
            const id = (by: string) => `${name} ${index} ${by}`
            await repository.create({ id: id('repository'), at })
            await sql`INSERT INTO moments (id, at) VALUES (${id('sql')}, ${at})`
            await manager.insert(Moment, { id: id('manager'), at })
            const ids = ['repository', 'sql', 'manager'].map(id)
            const stored = await repository.batchGet(ids)
            expect(stored.map((one) => one.at)).to.deep.equal([at, at, at])
            const found = await sql<{ id: string }[]>`SELECT id FROM moments WHERE at = ${at}`
            expect(found.map((one) => one.id)).to.include.members(ids)
            expect(await manager.countBy(Moment, { id: In(ids), at })).to.equal(3)
            expect(await manager.countBy(Moment, { id: In(ids), at: In([at]) })).to.equal(3)
          }
        }),
      )
    })
})
