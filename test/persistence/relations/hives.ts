import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn, type Relation } from 'typeorm'
import { Resource, Searchable, TenantScoped } from '../../../decorators/index.js'

/** A resource of a tenant that others refer to, for tests of what statements do. */
@Resource()
@Searchable({ strategy: 'JIT' })
@Entity('hives')
@TenantScoped()
export class Hive {
  @PrimaryColumn() id!: string
  @Searchable() @Column({ type: 'text', nullable: true }) title?: string
  @OneToMany(() => Bee, (bee) => bee.hive) bees?: Relation<Bee>[]
  accountId!: string
}

@Resource()
@Entity('bees')
@TenantScoped()
export class Bee {
  @PrimaryColumn() id!: string
  @Column({ type: 'text', nullable: true }) note?: string
  @Column() hiveId!: string
  @ManyToOne(() => Hive, (hive) => hive.bees)
  @JoinColumn({ name: 'hive_id' })
  hive?: Relation<Hive>
  accountId!: string
}
