import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { ETag, Resource, Searchable, TenantScoped } from '../../decorators/index.js'
import { BookSchema } from './gen/library_pb.js'
import { Shelf } from './shelf.js'

/**
 * `shelves/{shelf}/books/{book}`. PostgreSQL stores the words of a book: `npm run search` in this folder writes
 * the migrations for that.
 */
@Resource({ message: BookSchema })
@Searchable({ strategy: 'INDEXED', textConfig: 'english' })
@Entity('books')
@TenantScoped()
export class Book {
  @PrimaryColumn() id!: string
  @Column() shelfId!: string
  /** A shelf is not deleted while there are books on it. */
  @ManyToOne(() => Shelf, { nullable: false })
  @JoinColumn({ name: 'shelf_id' })
  shelf?: Shelf
  @Searchable() @Column() author!: string
  @Searchable() @Column() title!: string
  @Column() read!: boolean
  @ETag() etag!: string

  accountId!: string
}
