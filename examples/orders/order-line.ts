import { Column, Entity, ManyToOne, PrimaryColumn, type Relation, Unique } from 'typeorm'
import { Resource, TenantScoped } from '../../decorators/index.js'
import { OrderLineSchema } from './gen/orders_pb.js'
import { Order } from './order.js'
import { Product } from './product.js'

@Resource({ message: OrderLineSchema })
@Entity('order_lines')
@Unique(['orderId', 'productId'])
@TenantScoped()
export class OrderLine {
  @PrimaryColumn() id!: string
  @Column() orderId!: string
  @ManyToOne(() => Order, ({ lines }) => lines, { onDelete: 'CASCADE' }) order?: Relation<Order>
  @Column() productId!: string
  @ManyToOne(() => Product) product?: Relation<Product>
  @Column() quantity!: number
  @Column() priceCents!: bigint

  accountId!: string
}
