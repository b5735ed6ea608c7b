import { Column, Entity, ManyToOne, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../../decorators/index.js'

@Resource({ shared: true })
@Entity('authors')
export class Author {
  @PrimaryColumn({ length: 40 }) id!: string
}

@Resource({ shared: true })
@Entity('books')
export class Book {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 200 }) title!: string
  @ManyToOne(() => Author, { nullable: false }) author?: Author
}
