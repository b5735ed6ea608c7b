import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource, Searchable } from '../../../decorators/index.js'

/** A resource with an invalid declaration: no text search configuration has this name. */
@Resource({ shared: true })
@Searchable({ strategy: 'INDEXED', textConfig: "x'" })
@Entity('unfit')
export class Unfit {
  @PrimaryColumn() id!: string
  @Searchable() @Column('text') text!: string
}
