import { Column, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, TenantScoped, UpdateTime } from '../../decorators/index.js'
import { ProductSchema } from './gen/orders_pb.js'

@Resource({ message: ProductSchema })
@Entity('products')
@TenantScoped()
export class Product {
  @PrimaryColumn() id!: string
  @Column() displayName!: string
  @Column() priceCents!: bigint
  @Column() stock!: number
  @UpdateTime() updateTime!: Date
  @ETag() etag!: string

  accountId!: string
}
