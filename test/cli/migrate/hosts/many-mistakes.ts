import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../../decorators/resource.js'

/** No field holds an interval. */
const span = { type: 'interval' } as const

@Resource({ shared: true })
@Entity('invoices')
export class Invoice {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column(span) net!: string
  @Column(span) tax!: string
  @Column(span) gross!: string
  @Column(span) paid!: string
  @Column(span) discount!: string
  @Column(span) shipping!: string
  @Column(span) handling!: string
  @Column(span) insurance!: string
  @Column(span) customs!: string
  @Column(span) refunded!: string
}
