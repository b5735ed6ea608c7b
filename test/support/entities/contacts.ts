import { Column, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, Searchable, SoftDeletable, TenantScoped } from '../../../decorators/index.js'

/** A resource with INDEXED search. */
@Resource()
@Searchable({ strategy: 'INDEXED', sources: ['email', 'host', 'note', { cel: 'msg.name.lowerAscii()' }] })
@Entity('contacts')
@TenantScoped()
@SoftDeletable()
export class Contact {
  @PrimaryColumn() id!: string
  @Column('text') name!: string
  @Column('text') email!: string
  @Column('text') host!: string
  @Column({ type: 'text', nullable: true }) note?: string
  @ETag() etag!: string

  accountId!: string
  deleteTime?: Date
}

/** A second resource with INDEXED search, in English. */
@Resource({ shared: true })
@Searchable({ strategy: 'INDEXED', textConfig: 'english' })
@Entity('articles')
export class Article {
  @PrimaryColumn() id!: string
  @Searchable() @Column('text') title!: string
}

/** A resource whose search needs no files. */
@Resource({ shared: true })
@Searchable()
@Entity('remarks')
export class Remark {
  @PrimaryColumn() id!: string
  @Searchable() @Column('text') text!: string
}

export const NOT_AN_ENTITY = 1
