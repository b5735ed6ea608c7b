import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../../decorators/index.js'

@Resource({ existing: true, shared: true })
@Entity('countries')
export class Country {
  @PrimaryColumn({ length: 2 }) id!: string
  @Column({ length: 40 }) title!: string
}
