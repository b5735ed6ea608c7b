import { Column, Entity, Index, ManyToOne, OneToMany, PrimaryColumn, type Relation } from 'typeorm'
import { CreateTime, ETag, Resource, TenantScoped } from '../../decorators/index.js'
import { Customer } from './customer.js'
import { type Order_State, OrderSchema } from './gen/orders_pb.js'
import { OrderLine } from './order-line.js'

@Resource({ message: OrderSchema })
@Entity('orders')
@Index(['customerId', 'createTime'])
@TenantScoped()
export class Order {
  @PrimaryColumn() id!: string
  @Column() customerId!: string
  @ManyToOne(() => Customer) customer?: Relation<Customer>
  @OneToMany(() => OrderLine, ({ order }) => order) lines?: Relation<OrderLine>[]
  @Column() note!: string
  @Column({ type: String }) state!: Order_State
  @Column() totalCents!: bigint
  @Column() placedBy!: string
  @Column() approvedBy!: string
  @CreateTime({ filterable: true }) createTime!: Date
  @ETag() etag!: string

  accountId!: string
}
