import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../../decorators/resource.js'
import { TenantScoped } from '../../../../decorators/tenant-scoped.js'

/** What it runs tomorrow, with columns that rows from before have no value of. */
@Resource()
@Entity('tasks')
@TenantScoped()
export class Task {
  @PrimaryColumn() id!: string
  @Column({ length: 100 }) title!: string
  @Column() colour!: string
  @Column() note!: string
  @Column() dueTime!: Date
  accountId!: string
}
