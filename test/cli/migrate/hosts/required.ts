import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../../decorators/resource.js'
import { TenantScoped } from '../../../../decorators/tenant-scoped.js'

/** What it runs tomorrow, with columns that clients have to send. */
@Resource()
@Entity('tasks')
@TenantScoped()
export class Task {
  @PrimaryColumn() id!: string
  @Column({ length: 100 }) title!: string
  @Column() colour!: string
  @Column({ nullable: true }) note?: string
  @Column() kind!: string
  @Column() size!: number
  accountId!: string
}
