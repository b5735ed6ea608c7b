import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../../decorators/resource.js'

/** No field holds an exact decimal. */
const money = { type: 'numeric', precision: 12, scale: 2 } as const

@Resource({ shared: true })
@Entity('invoices')
export class Invoice {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column(money) net!: string
  @Column(money) tax!: string
  @Column(money) gross!: string
  @Column(money) paid!: string
  @Column(money) discount!: string
  @Column(money) shipping!: string
  @Column(money) handling!: string
  @Column(money) insurance!: string
  @Column(money) customs!: string
  @Column(money) refunded!: string
}
