import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../decorators/index.js'
import { ShelfSchema } from './gen/library_pb.js'

@Resource({ message: ShelfSchema })
@Entity('shelves')
@TenantScoped()
export class Shelf {
  @PrimaryColumn() id!: string
  @Column() theme!: string
  accountId!: string
}
