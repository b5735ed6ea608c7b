import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/resource.js'
import { Secret } from '../../../decorators/secret.js'
import { TenantScoped } from '../../../decorators/tenant-scoped.js'
import { InstrumentSchema } from '../gen/instruments_pb.js'
import { MakerSchema } from '../gen/makers_pb.js'

/** A resource that one process serves. */
@Resource({ message: MakerSchema })
@Entity('makers')
@TenantScoped()
export class Maker {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column() country!: string
  @Secret() pin?: Secret
  @Column() remark!: string

  accountId!: string
}

/** A resource that another process serves and that refers to makers. */
@Resource({ message: InstrumentSchema })
@Entity('instruments')
@TenantScoped()
export class Instrument {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column() makerId!: string
  @Column() repairerId!: string

  accountId!: string
}
