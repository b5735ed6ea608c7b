import {
  Column,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  type Relation,
} from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'

@Resource({ shared: true })
@Entity('countries')
export class Country {
  @PrimaryColumn({ type: String }) id!: string
}

@Resource()
@Entity('ventures')
@TenantScoped()
export class Venture {
  @PrimaryColumn({ type: String }) id!: string
  @Column({ type: String }) title!: string
  accountId!: string
  @OneToMany(() => Chore, (chore) => chore.venture) chores?: Chore[]
  @OneToOne(() => Charter, 'venture') charter?: Relation<Charter>
  @Column({ type: String, nullable: true }) countryId?: string
  @ManyToOne(() => Country) country?: Country
}

@Resource()
@Entity('chores')
@TenantScoped()
export class Chore {
  @PrimaryColumn({ type: String }) id!: string
  accountId!: string
  @Column({ type: String }) ventureId!: string
  @ManyToOne(() => Venture, (venture) => venture.chores, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'venture_id' })
  venture?: Venture
  @ManyToOne(() => Chore, { onDelete: 'SET NULL' }) after?: Chore
}

@Resource()
@Entity('charters')
@TenantScoped()
export class Charter {
  @PrimaryColumn({ type: String }) id!: string
  accountId!: string
  @OneToOne(() => Venture, (venture) => venture.charter, { nullable: false })
  @JoinColumn()
  venture!: Venture
}
