import { Column, Entity, PrimaryColumn } from 'typeorm'
import { CreateTime, ETag, Resource, TenantScoped } from '../../decorators/index.js'
import { type Order_State, OrderSchema } from './gen/orders_pb.js'

@Resource({ message: OrderSchema })
@Entity('orders')
@TenantScoped()
export class Order {
  @PrimaryColumn() id!: string
  @Column() customer!: string
  @Column() note!: string
  @Column({ type: String }) state!: Order_State
  @Column() totalCents!: bigint
  @Column() placedBy!: string
  @Column() approvedBy!: string
  @CreateTime({ filterable: true }) createTime!: Date
  @ETag() etag!: string

  accountId!: string
}
