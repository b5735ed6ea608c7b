import { Column, Entity, PrimaryColumn } from 'typeorm'
import { CreateTime } from '../../decorators/create-time.js'
import { ETag } from '../../decorators/etag.js'
import { Resource } from '../../decorators/resource.js'
import { SoftDeletable } from '../../decorators/soft-deletable.js'
import { Tags } from '../../decorators/tags.js'
import { TenantScoped } from '../../decorators/tenant-scoped.js'
import { UpdateTime } from '../../decorators/update-time.js'
import { WidgetSchema, Widget_State } from './gen/widgets_pb.js'

@Resource({ message: WidgetSchema })
@Entity('widgets')
@TenantScoped()
@SoftDeletable()
export class Widget {
  @PrimaryColumn() id!: string
  @Column() displayName!: string
  @Column('text') description!: string
  @Column() size!: number
  @Column('double precision') price!: number
  @Column({ type: String }) state!: Widget_State
  @Tags() tags!: Record<string, string>
  @CreateTime({ filterable: true }) createTime!: Date
  @UpdateTime() updateTime!: Date
  @ETag() etag!: string

  accountId!: string
  deleteTime?: Date
}
