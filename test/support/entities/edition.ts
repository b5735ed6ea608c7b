import { Column, Entity, PrimaryColumn } from 'typeorm'
import {
  CreateTime,
  ETag,
  Resource,
  Searchable,
  SoftDeletable,
  TenantScoped,
} from '../../../decorators/index.js'
import { InvoiceSchema, PaymentSchema } from '../gen/bills_pb.js'
import { EditionSchema, PolicySchema, PublisherSchema } from '../gen/editions_pb.js'

/** The resource name is `publishers/{publisher}`. */
@Resource({ message: PublisherSchema })
@Entity('publishers')
@TenantScoped()
export class Publisher {
  @PrimaryColumn() id!: string
  @Column() title!: string
  accountId!: string
}

/** The resource name is `publishers/{publisher}/series/{series}/editions/{edition}`. */
@Resource({ message: EditionSchema })
@Searchable({ sources: ['title'] })
@Entity('editions')
@TenantScoped()
@SoftDeletable()
export class Edition {
  @PrimaryColumn() id!: string
  @Column() publisherId!: string
  @Column() seriesId!: string
  @Column() title!: string
  @Column() pages!: number
  @ETag() etag!: string
  @CreateTime() createTime!: Date
  accountId!: string
  deleteTime?: Date
}

/** The resource name is `publishers/{publisher}/policy`. */
@Resource({ message: PolicySchema })
@Entity('policies')
@TenantScoped()
export class Policy {
  @PrimaryColumn() publisherId!: string
  @Column() maxPages!: number
  accountId!: string
}

/** The resource name is `invoices/{invoice}`. */
@Resource({ message: InvoiceSchema })
@Entity('invoices')
@TenantScoped()
export class Invoice {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column('bigint') amount!: bigint
  accountId!: string
}

/** The resource name is `invoices/{invoice}/payments/{payment}`. */
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
