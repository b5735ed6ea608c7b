import { Column, Entity, PrimaryColumn } from 'typeorm'
import {
  CreateTime,
  ETag,
  Resource,
  SoftDeletable,
  Tags,
  TenantScoped,
  UpdateTime,
} from '../../decorators/index.js'
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
