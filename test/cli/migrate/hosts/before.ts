import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../../decorators/resource.js'
import { TenantScoped } from '../../../../decorators/tenant-scoped.js'

/** What a service runs today. */
@Resource()
@Entity('tasks')
@TenantScoped()
export class Task {
  @PrimaryColumn() id!: string
  @Column({ length: 100 }) title!: string
  @Column() colour!: string
  @Column({ nullable: true }) note?: string
  accountId!: string
}
