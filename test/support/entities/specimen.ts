import { Column, Entity, PrimaryColumn, Unique } from 'typeorm'
import { CreateTime, ETag, UpdateTime } from '../../../decorators/server-set.js'
import { Credential } from '../../../decorators/credential.js'
import { Expirable } from '../../../decorators/expirable.js'
import { Resource } from '../../../decorators/resource.js'
import { Secret } from '../../../decorators/secret.js'
import { SoftDeletable } from '../../../decorators/soft-deletable.js'
import { Tags } from '../../../decorators/tags.js'
import { TenantScoped } from '../../../decorators/tenant-scoped.js'
import { NoteSchema, SpecimenSchema, Specimen_Phase } from '../gen/specimens_pb.js'

/**
 * Everything a resource can have: every field kind, a tenant, soft delete, expiry, a secret and a credential.
 */
@Resource({ message: SpecimenSchema })
@Entity('specimens')
@Unique(['code'])
@TenantScoped()
@SoftDeletable()
@Expirable({ ttl: '30d' })
export class Specimen {
  @PrimaryColumn() id!: string
  @Column({ length: 100 }) title!: string
  @Column({ type: 'text', nullable: true }) note?: string
  @Column() active!: boolean
  @Column() count!: number
  @Column('bigint') weight!: number
  @Column('bigint') big!: bigint
  @Column('bigint') huge!: bigint
  @Column('real') ratio!: number
  @Column('double precision') score!: number
  @Column({ type: String }) blob!: Uint8Array
  @Column({ type: String }) phase!: Specimen_Phase
  @Column({ nullable: true }) dueTime?: Date
  @Column({ type: 'bigint', nullable: true }) span?: bigint
  @Column('simple-json') labels!: string[]
  @Column({ type: 'simple-json', nullable: true }) origin?: SpecimenOrigin
  @Tags() tags!: Record<string, string>
  @Column({ type: Number, nullable: true }) rank?: number
  @Column() code!: string
  @Column() serial!: string
  @CreateTime({ filterable: true }) createTime!: Date
  @UpdateTime({ filterable: true }) updateTime!: Date
  @ETag() etag!: string
  @Secret() webhookSecret?: Secret
  @Credential() apiKey?: Credential
  /** Not in the message: only the service itself knows it. */
  @Column({ nullable: true }) bin?: string

  accountId!: string
  deleteTime?: Date
  expireTime?: Date
}

export interface SpecimenOrigin {
  quarry: string
  depth: bigint
  crew: string[]
}

/** As little as a resource can have: no tenant, no soft delete, no etag, no times. */
@Resource({ message: NoteSchema, shared: true })
@Entity('notes')
export class Note {
  @PrimaryColumn() name!: string
  @Column() text!: string
  @Column() stars!: number
}
