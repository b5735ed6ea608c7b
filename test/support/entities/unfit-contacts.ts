import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource, Searchable } from '../../../decorators/index.js'

/** Whose declarations do not fit together: there is no such text configuration. */
@Resource({ shared: true })
@Searchable({ strategy: 'INDEXED', textConfig: "x'" })
@Entity('unfit')
export class Unfit {
  @PrimaryColumn() id!: string
  @Searchable() @Column('text') text!: string
}
