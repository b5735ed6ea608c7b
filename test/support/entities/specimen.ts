import { Column, Entity, PrimaryColumn, Unique } from 'typeorm'
import { CreateTime, ETag, UpdateTime } from '../../../decorators/server-set.js'
import { Credential } from '../../../decorators/credential.js'
import { Expirable } from '../../../decorators/expirable.js'
import { Resource, type ResourceOptions } from '../../../decorators/resource.js'
import { Secret } from '../../../decorators/secret.js'
import { SoftDeletable } from '../../../decorators/soft-deletable.js'
import { Tags } from '../../../decorators/tags.js'
import { TenantScoped } from '../../../decorators/tenant-scoped.js'
import { NoteSchema, SpecimenSchema, Specimen_Phase } from '../gen/specimens_pb.js'

export interface SpecimenClasses {
  readonly Specimen: ReturnType<typeof specimenClass>
  readonly Note: ReturnType<typeof noteClass>
}

/** Returns the two resources with columns named in the given way. */
export const specimensNamed = (naming: ResourceOptions['naming']): SpecimenClasses => ({
  Specimen: specimenClass(naming),
  Note: noteClass(naming),
})

/**
 * Declares a resource that uses every option: every kind of field, a tenant, soft delete, expiry, a secret
 * and a credential.
 */
function specimenClass(naming: ResourceOptions['naming']) {
  @Entity('specimens')
  @Unique(['code'])
  @TenantScoped()
  @SoftDeletable()
  @Expirable({ ttl: '30d' })
  class Specimen {
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
    /** A column that is not in the message, so that clients never see it. */
    @Column({ nullable: true }) bin?: string

    accountId!: string
    deleteTime?: Date
    expireTime?: Date
  }
  // With a naming strategy of TypeORM, the primary key keeps the name that it is declared with.
  if (naming !== undefined) PrimaryColumn({ type: String })(Specimen.prototype, 'accountId')
  Resource({ message: SpecimenSchema, ...(naming !== undefined && { naming }) })(Specimen)
  return Specimen
}

/**
 * Declares a resource that uses as few options as possible: no tenant, no soft delete, no etag and no times.
 */
function noteClass(naming: ResourceOptions['naming']) {
  @Entity('notes')
  class Note {
    @PrimaryColumn() name!: string
    @Column() text!: string
    @Column() stars!: number
  }
  Resource({ message: NoteSchema, shared: true, ...(naming !== undefined && { naming }) })(Note)
  return Note
}

export interface SpecimenOrigin {
  quarry: string
  depth: bigint
  crew: string[]
}

export const { Specimen, Note } = specimensNamed(undefined)
export type Specimen = InstanceType<SpecimenClasses['Specimen']>
export type Note = InstanceType<SpecimenClasses['Note']>
