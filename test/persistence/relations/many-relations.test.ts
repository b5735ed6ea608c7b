import { expect } from 'chai'
import { Column, type DataSource, Entity, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { inAcme } from '../../conformance/repository/subject.js'
import { databases, describeOn, distributed, type OpenBackend } from '../../support/databases/backends.js'

@Resource()
@Entity('stations')
@TenantScoped()
class Station {
  @PrimaryColumn() id!: string
  accountId!: string
}

@Resource()
@Entity('rides')
@TenantScoped()
class Ride {
  @PrimaryColumn() id!: string
  @Column() aId!: string
  @ManyToOne(() => Station) @JoinColumn({ name: 'a_id' }) a?: Relation<Station>
  @Column() bId!: string
  @ManyToOne(() => Station) @JoinColumn({ name: 'b_id' }) b?: Relation<Station>
  @Column() cId!: string
  @ManyToOne(() => Station) @JoinColumn({ name: 'c_id' }) c?: Relation<Station>
  @Column() dId!: string
  @ManyToOne(() => Station) @JoinColumn({ name: 'd_id' }) d?: Relation<Station>
  @Column() eId!: string
  @ManyToOne(() => Station) @JoinColumn({ name: 'e_id' }) e?: Relation<Station>
  @Column() fId!: string
  @ManyToOne(() => Station) @JoinColumn({ name: 'f_id' }) f?: Relation<Station>
  @Column() gId!: string
  @ManyToOne(() => Station) @JoinColumn({ name: 'g_id' }) g?: Relation<Station>
  @Column() hId!: string
  @ManyToOne(() => Station) @JoinColumn({ name: 'h_id' }) h?: Relation<Station>
  @Column() iId!: string
  @ManyToOne(() => Station) @JoinColumn({ name: 'i_id' }) i?: Relation<Station>
  @Column() jId!: string
  @ManyToOne(() => Station) @JoinColumn({ name: 'j_id' }) j?: Relation<Station>
  accountId!: string
}

const STOPS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'] as const

describeOn('a page with many relations', [...databases, ...distributed], (backend) => {
  let opened: OpenBackend
  let rides: TypeormRepository<Ride>
  before(async () => {
    opened = await backend.open([Station, Ride])
    const dataSource = opened.dataSource as DataSource
    await createTables(
      collated(dataSource, backend),
      [Station, Ride],
      opened.database?.dialect.name ?? 'sqlite',
    )
    await opened.distribute?.()
    const stations = new TypeormRepository(dataSource, Station)
    rides = new TypeormRepository(dataSource, Ride)
    await inAcme(async () => {
      for (const stop of STOPS) await stations.create({ id: `at-${stop}` })
      const ids = Object.fromEntries(STOPS.map((stop) => [`${stop}Id`, `at-${stop}`]))
      await rides.create({ id: 'ride', ...(ids as unknown as Omit<Ride, 'id' | 'accountId'>) })
    })
  })
  after(() => opened?.close())

  for (const count of [8, 9, 10])
    it(`has each of them, in one statement for each: ${count}`, () =>
      inAcme(async () => {
        const sent: string[] = []
        const stop = watchStatements(opened.dataSource as DataSource, ({ text }) => sent.push(text))
        const asked = STOPS.slice(0, count)
        const { items } = await rides.list({ with: [...asked] })
        stop()
        expect(asked.map((one) => items[0]?.[one]?.id)).to.deep.equal(asked.map((one) => `at-${one}`))
        expect(sent).to.have.length(1 + count)
      }))
})
