import { Column, Entity, PrimaryColumn } from 'typeorm'
import { CreateTime, ETag } from '../../../decorators/server-set.js'
import { Resource } from '../../../decorators/resource.js'
import { TenantScoped } from '../../../decorators/tenant-scoped.js'
import { type Parcel_Size, ParcelSchema } from '../gen/parcels_pb.js'

/** A resource whose message has rules of every kind. */
@Resource({ message: ParcelSchema })
@Entity('parcels')
@TenantScoped()
export class Parcel {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column({ type: 'text', nullable: true }) note?: string
  @Column({ type: 'simple-json', nullable: true }) address?: ParcelAddress
  @Column('simple-json') lines!: { product: string; quantity: number }[]
  @Column('simple-json') stamps!: Record<string, { office: string }>
  @Column() code!: string
  @Column() pin!: string
  @Column({ type: String }) size!: Parcel_Size
  @Column() weight!: number
  @Column() serial!: string
  @CreateTime() createTime!: Date
  @ETag() etag!: string

  accountId!: string
}

interface ParcelAddress {
  city: string
  street: string
  doorCode: string
}
