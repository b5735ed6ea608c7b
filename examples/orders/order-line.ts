import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../decorators/index.js'
import { OrderLineSchema } from './gen/orders_pb.js'

@Resource({ message: OrderLineSchema })
@Entity('order_lines')
@TenantScoped()
export class OrderLine {
  @PrimaryColumn() id!: string
  @Column() @Index() orderId!: string
  @Column() product!: string
  @Column() quantity!: number
  @Column() priceCents!: bigint

  accountId!: string
}
