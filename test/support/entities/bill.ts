import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { InvoiceSchema, PaymentSchema } from '../gen/bills_pb.js'

/** `invoices/{invoice}` */
@Resource({ message: InvoiceSchema })
@Entity('invoices')
@TenantScoped()
export class Invoice {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column('bigint') amount!: bigint
  accountId!: string
}

/** `invoices/{invoice}/payments/{payment}` */
@Resource({ message: PaymentSchema })
@Entity('payments')
@TenantScoped()
export class Payment {
  @PrimaryColumn() id!: string
  @Column() invoiceId!: string
  @Column() title!: string
  @Column('bigint') amount!: bigint
  accountId!: string
}
