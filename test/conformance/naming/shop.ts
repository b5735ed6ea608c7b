import 'reflect-metadata'
import {
  Column,
  Entity,
  Index,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  type NamingStrategyInterface,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Unique,
} from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'

export interface Customer {
  id: string
  accountId: string
  displayName: string
  creditLimit: number
  isActive: boolean
  orders?: Order[]
}

export interface Order {
  id: string
  accountId: string
  orderNumber: string
  total: number
  weight?: bigint
  customer?: Customer
  customerId?: string
  shipToId?: string
  shipTo?: Customer
  warehouse?: { code: string }
}

/** What is not a resource, and refers to one. */
export interface Visit {
  id: number
  pageUrl: string
  customer?: Customer
  orders?: Order[]
}

/** The entities of an application, which uses TypeORM. */
export interface Shop {
  readonly Customer: EntityClass<Customer>
  readonly Order: EntityClass<Order>
  readonly Warehouse: EntityClass<{ code: string; accountId: string; cityName: string }>
  readonly Visit: EntityClass<Visit>
}

/**
 * The same classes before and after they become resources.
 * @param naming - of the resources; undefined before.
 */
export function shopOf(naming: 'typeorm' | NamingStrategyInterface | undefined): Shop {
  const becomes = (entity: EntityClass<object>, type: string) => {
    if (naming === undefined) return
    TenantScoped()(entity)
    Resource({ type, naming })(entity)
  }

  @Entity()
  class ShopCustomer implements Customer {
    @PrimaryGeneratedColumn('uuid') id!: string
    @Column() accountId!: string
    @Column({ length: 60 }) displayName!: string
    @Column({ type: 'int', name: 'credit', default: 5 }) creditLimit!: number
    @Column({ default: true }) isActive!: boolean
    @OneToMany(() => ShopOrder, (order) => order.customer) orders?: ShopOrder[]
  }

  @Entity()
  class ShopWarehouse {
    @PrimaryColumn({ length: 12 }) code!: string
    @Column() accountId!: string
    @Column() cityName!: string
  }

  @Entity({ name: 'salesOrder' })
  @Unique(['accountId', 'orderNumber'])
  @Index(['customer', 'orderNumber'])
  class ShopOrder implements Order {
    @PrimaryColumn({ type: 'varchar', length: 36 }) id!: string
    @Column() accountId!: string
    @Column({ length: 40 }) orderNumber!: string
    @Column('int') total!: number
    @Column({ type: 'bigint', nullable: true }) weight?: bigint
    @ManyToOne(() => ShopCustomer, (customer) => customer.orders, { onDelete: 'CASCADE' })
    customer?: ShopCustomer
    @Column({ nullable: true, name: 'ship_to', type: 'uuid' }) shipToId?: string
    @ManyToOne(() => ShopCustomer) @JoinColumn({ name: 'ship_to' }) shipTo?: ShopCustomer
    @ManyToOne(() => ShopWarehouse) @JoinColumn({ referencedColumnName: 'code' }) warehouse?: ShopWarehouse
  }

  @Entity()
  class ShopVisit implements Visit {
    @PrimaryGeneratedColumn() id!: number
    @Column() pageUrl!: string
    @ManyToOne(() => ShopCustomer, { eager: true, cascade: true, onDelete: 'CASCADE' })
    customer?: ShopCustomer
    @ManyToMany(() => ShopOrder, { cascade: true }) @JoinTable() orders?: ShopOrder[]
  }

  becomes(ShopCustomer, 'customer')
  becomes(ShopOrder, 'order')
  becomes(ShopWarehouse, 'warehouse')
  return { Customer: ShopCustomer, Order: ShopOrder, Warehouse: ShopWarehouse, Visit: ShopVisit }
}
