import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { ETag, Resource, TenantScoped } from '../../decorators/index.js'
import { BookSchema } from './gen/library_pb.js'
import { Shelf } from './shelf.js'

/** `shelves/{shelf}/books/{book}` */
@Resource({ message: BookSchema })
@Entity('books')
@TenantScoped()
export class Book {
  @PrimaryColumn() id!: string
  @Column() shelfId!: string
  /** A shelf is not deleted while there are books on it. */
  @ManyToOne(() => Shelf, { nullable: false })
  @JoinColumn({ name: 'shelf_id' })
  shelf?: Shelf
  @Column() author!: string
  @Column() title!: string
  @Column() read!: boolean
  @ETag() etag!: string

  accountId!: string
}
