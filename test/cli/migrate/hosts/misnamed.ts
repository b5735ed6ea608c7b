import { Column, Entity, PrimaryColumn } from 'typeorm'
import { RenamedFrom } from '../../../../decorators/property-mapping.js'
import { Resource } from '../../../../decorators/resource.js'
import { TenantScoped } from '../../../../decorators/tenant-scoped.js'

/** Names the property, and not the column, that it renames. */
@Resource()
@Entity('tasks')
@TenantScoped()
export class Task {
  @PrimaryColumn() id!: string
  @Column({ length: 100 }) title!: string
  @Column({ name: 'shade' }) @RenamedFrom('Co_lour') colour!: string
  @Column({ nullable: true }) note?: string
  accountId!: string
}
