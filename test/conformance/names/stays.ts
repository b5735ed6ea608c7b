import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm'
import { Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { BillSchema, GuestSchema, StaySchema } from '../../support/gen/stays_pb.js'

/** `guests/{guest}` */
@Resource({ message: GuestSchema })
@Entity('guests')
@TenantScoped()
export class Guest {
  @PrimaryColumn() id!: string
  @Column() title!: string
  accountId!: string
}

/** `guests/{guest}/stays/{stay}` */
@Resource({ message: StaySchema })
@Entity('stays')
@TenantScoped()
@SoftDeletable()
export class Stay {
  @PrimaryColumn() id!: string
  @Column() guestId!: string
  @ManyToOne(() => Guest, { nullable: false })
  @JoinColumn({ name: 'guest_id' })
  guest?: Relation<Guest>
  @Column() title!: string
  accountId!: string
  deleteTime?: Date
}

/** `guests/{guest}/stays/{stay}/bills/{bill}` */
@Resource({ message: BillSchema })
@Entity('bills')
@TenantScoped()
export class Bill {
  @PrimaryColumn() id!: string
  @Column() guestId!: string
  @ManyToOne(() => Guest, { nullable: false })
  @JoinColumn({ name: 'guest_id' })
  guest?: Relation<Guest>
  @Column() stayId!: string
  @ManyToOne(() => Stay, { nullable: false })
  @JoinColumn({ name: 'stay_id' })
  stay?: Relation<Stay>
  @Column() title!: string
  accountId!: string
}
