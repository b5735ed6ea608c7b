import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { RenamedFrom } from '../../../../decorators/property-mapping.js'
import { Resource } from '../../../../decorators/resource.js'
import { TenantScoped } from '../../../../decorators/tenant-scoped.js'

/** What it runs tomorrow. */
@Resource()
@Entity('tasks')
@TenantScoped()
export class Task {
  @PrimaryColumn() id!: string
  @Column({ length: 100 }) @RenamedFrom('title') displayName!: string
  @Column({ default: 3 }) priority!: number
  @Column({ nullable: true }) @Index() note?: string
  accountId!: string
}
