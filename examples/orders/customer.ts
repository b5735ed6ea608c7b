import { BeforeInsert, BeforeUpdate, Column, Entity, PrimaryColumn } from 'typeorm'
import { CreateTime, ETag, Resource, TenantScoped } from '../../decorators/index.js'
import { CustomerSchema } from './gen/orders_pb.js'

@Resource({ message: CustomerSchema })
@Entity('customers')
@TenantScoped()
export class Customer {
  @PrimaryColumn() id!: string
  @Column() displayName!: string
  @Column({ unique: true }) email!: string
  @CreateTime() createTime!: Date
  @ETag() etag!: string

  accountId!: string

  @BeforeInsert()
  @BeforeUpdate()
  normalize(): void {
    this.email = this.email.toLowerCase()
  }
}
