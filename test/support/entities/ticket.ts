import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/resource.js'
import { Secret } from '../../../decorators/secret.js'
import { TenantScoped } from '../../../decorators/tenant-scoped.js'
import { TicketSchema } from '../gen/tickets_pb.js'

/** A resource whose message has validation rules of `buf.validate`. */
@Resource({ message: TicketSchema })
@Entity('tickets')
@TenantScoped()
export class Ticket {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column() seats!: number
  @Column({ type: 'text', nullable: true }) email?: string
  @Column({ type: 'simple-json', nullable: true }) place?: { hall: string; row: number }
  @Column('simple-json') guests!: { name: string; age: number }[]
  @Column('simple-json') labels!: Record<string, string>
  @Column() startHour!: number
  @Column() endHour!: number
  @Column() serial!: string
  @Secret() pin?: Secret
  @Column() ratio!: number

  accountId!: string
}
