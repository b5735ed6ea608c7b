import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn, type Relation } from 'typeorm'
import {
  Credential,
  Emits,
  Expirable,
  Resource,
  SoftDeletable,
  TenantScoped,
} from '../../../../decorators/index.js'

/** A row that tenants share, which is deleted softly. */
@Resource({ shared: true })
@SoftDeletable()
@Entity('countries')
export class Country {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @OneToMany(() => Depot, (depot) => depot.country) depots?: Relation<Depot>[]
  deleteTime?: Date
}

@Resource()
@Entity('depots')
@TenantScoped()
export class Depot {
  @PrimaryColumn() id!: string
  @Column() countryId!: string
  @ManyToOne(() => Country, (country) => country.depots)
  @JoinColumn({ name: 'country_id' })
  country?: Relation<Country>
  accountId!: string
}

@Resource()
@Entity('parcels')
@TenantScoped()
@Emits()
export class Parcel {
  @PrimaryColumn() id!: string
  @Column() depotId!: string
  @ManyToOne(() => Depot)
  @JoinColumn({ name: 'depot_id' })
  depot?: Depot
  accountId!: string
}

@Resource()
@Entity('vouchers')
@TenantScoped()
@Expirable()
export class Voucher {
  @PrimaryColumn() id!: string
  @Column({ type: 'int' }) value!: number
  accountId!: string
  expireTime?: Date
}

/** Its purge writes events. */
@Resource()
@Entity('coupons')
@TenantScoped()
@Expirable()
@Emits()
export class Coupon {
  @PrimaryColumn() id!: string
  accountId!: string
  expireTime?: Date
}

@Resource()
@Entity('robots')
@TenantScoped()
@SoftDeletable()
@Emits()
export class Robot {
  @PrimaryColumn() id!: string
  @Credential() apiKey?: Credential
  accountId!: string
  deleteTime?: Date
}
