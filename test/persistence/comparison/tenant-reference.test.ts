import { expect } from 'chai'
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { migrate } from '../../../lib/migrations/index.js'
import { schemaComparison, tableMigrations } from '../../../lib/persistence/index.js'
import { file, onEachEngine } from '../../migrations/each-engine.js'

@Resource({ shared: true })
@Entity('guilds')
class Guild {
  @PrimaryColumn({ length: 40 }) id!: string
}

@Resource()
@TenantScoped({ column: 'guild' })
@Entity('looms')
class Loom {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 40 }) guildId!: string
  @ManyToOne(() => Guild) @JoinColumn({ name: 'guild_id' }) guild?: Guild
}

@Resource()
@TenantScoped({ column: 'guild' })
@Entity('cloths')
class Cloth {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 40 }) guildId!: string
  @ManyToOne(() => Guild) @JoinColumn({ name: 'guild_id' }) guild?: Guild
  @Column({ length: 40 }) loomId!: string
  @ManyToOne(() => Loom) @JoinColumn({ name: 'loom_id' }) loom?: Loom
  @Column({ length: 40, nullable: true }) spareId?: string
  @ManyToOne(() => Loom) @JoinColumn({ name: 'spare_id' }) spare?: Loom
  @Column({ length: 40, nullable: true }) patternId?: string
  @ManyToOne(() => Cloth) @JoinColumn({ name: 'pattern_id' }) pattern?: Cloth
  /** Another reference to the tenants' table, which is not the tenant. */
  @Column({ length: 40, nullable: true }) sellerId?: string
  @ManyToOne(() => Guild) @JoinColumn({ name: 'seller_id' }) seller?: Guild
}

const ENTITIES = { Guild, Loom, Cloth }

onEachEngine('a tenant that is a reference, beside other references', (database, dialect) => {
  const migrator = () =>
    migrate({
      url: database().url,
      files: Object.assign(
        {},
        ...tableMigrations(ENTITIES).map((table, at) =>
          file(`000${at + 2}_${table.table}`, table.sqlFor(dialect).up, table.sqlFor(dialect).down),
        ),
      ) as Record<string, string>,
    })
  const differences = () => migrator().verify(schemaComparison(ENTITIES))
  const drop = async (name: string) =>
    database().rows(
      `ALTER TABLE cloths DROP ${dialect === 'postgres' ? 'CONSTRAINT' : 'FOREIGN KEY'} ${name}`,
    )

  it('has no differences after the files of migrate new', async () => {
    await migrator().up()
    expect(await differences()).to.deep.equal([])
  })

  it('reports a dropped foreign key alone, whichever it is', async () => {
    await migrator().up()
    for (const name of ['cloths_guild_id_loom_id_fkey', 'cloths_guild_id_fkey', 'cloths_seller_id_fkey'])
      await drop(name)
    expect((await differences()).length).to.equal(3)
  })

  it('reports a foreign key without the tenant at the reference that it belongs to', async () => {
    await migrator().up()
    await drop('cloths_guild_id_spare_id_fkey')
    await database().rows('CREATE UNIQUE INDEX looms_alone ON looms (id)')
    await database().rows(
      'ALTER TABLE cloths ADD CONSTRAINT hand_made FOREIGN KEY (spare_id) REFERENCES looms (id)',
    )
    expect(JSON.stringify(await differences())).to.match(/spare_id/)
  })
})
