import { expect } from 'chai'
import {
  Column,
  type DataSource,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  type Relation,
} from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { databases, describeOn, distributed, type OpenBackend } from '../../support/databases/backends.js'

@Resource({ shared: true })
@Entity('coasts')
class Coast {
  @PrimaryColumn() id!: string
  @OneToMany(() => Harbour, (harbour) => harbour.coast) harbours?: Relation<Harbour>[]
}

@Resource()
@Entity('harbours')
@TenantScoped()
class Harbour {
  @PrimaryColumn() id!: string
  @Column() coastId!: string
  @ManyToOne(() => Coast, (coast) => coast.harbours)
  @JoinColumn({ name: 'coast_id' })
  coast?: Relation<Coast>
  @OneToMany(() => Boat, (boat) => boat.harbour) boats?: Relation<Boat>[]
  accountId!: string
}

@Resource()
@Entity('boats')
@TenantScoped()
class Boat {
  @PrimaryColumn() id!: string
  @Column() harbourId!: string
  @ManyToOne(() => Harbour, (harbour) => harbour.boats)
  @JoinColumn({ name: 'harbour_id' })
  harbour?: Relation<Harbour>
  accountId!: string
}

describeOn('relations across tenants', [...databases, ...distributed], (backend) => {
  let opened: OpenBackend
  before(async () => {
    opened = await backend.open([Coast, Harbour, Boat])
    const dataSource = opened.dataSource as DataSource
    const name = opened.database?.dialect.name ?? 'sqlite'
    await createTables(collated(dataSource, backend), [Coast, Harbour, Boat], name)
    await opened.distribute?.()
  })
  after(() => opened?.close())

  const read = async (list: (coasts: TypeormRepository<Coast>) => Promise<Coast | undefined>) => {
    const coast = await RequestContext.asSystem(() =>
      list(new TypeormRepository(opened.dataSource as DataSource, Coast)),
    )
    return coast?.harbours?.map(({ accountId, id, boats }) => [accountId, id, boats?.map((boat) => boat.id)])
  }

  it('lose no row to another tenant whose harbour has the same id, and more boats than one statement reads', async () => {
    const dataSource = opened.dataSource as DataSource
    const rows = Array.from({ length: 10_050 }, (_, n) => `('b', 'b${n}', 'h')`)
    await dataSource.query(`INSERT INTO coasts (id) VALUES ('c')`)
    await dataSource.query(`INSERT INTO harbours (account_id, id, coast_id) VALUES ('a', 'h', 'c')`)
    await dataSource.query(
      `INSERT INTO boats (account_id, id, harbour_id) VALUES ('a', 'z1', 'h'), ('a', 'z2', 'h')`,
    )
    await dataSource.query(`INSERT INTO coasts (id) VALUES ('other')`)
    await dataSource.query(`INSERT INTO harbours (account_id, id, coast_id) VALUES ('b', 'h', 'other')`)
    for (let n = 0; n < rows.length; n += 2010)
      await dataSource.query(
        `INSERT INTO boats (account_id, id, harbour_id) VALUES ${rows.slice(n, n + 2010).join(', ')}`,
      )
    const whole = [['a', 'h', ['z1', 'z2']]]
    const listed = async (coasts: TypeormRepository<Coast>) =>
      (await coasts.list({ with: ['harbours.boats'], filter: 'id = "c"' })).items[0]
    expect(await read(listed)).to.deep.equal(whole)
    expect(await read((coasts) => coasts.transaction(() => listed(coasts)))).to.deep.equal(whole)
  })
})
