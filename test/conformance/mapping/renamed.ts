import {
  Column,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  type Relation,
  Unique,
} from 'typeorm'
import {
  Computed,
  CreateTime,
  Credential,
  Emits,
  ETag,
  Expirable,
  OutputOnly,
  ProtoField,
  Resource,
  Searchable,
  Secret,
  SoftDeletable,
  Tags,
  TenantScoped,
  UpdateTime,
} from '../../../decorators/index.js'
import type { SpecimenOrigin } from '../../support/entities/specimen.js'
import { Specimen_Phase, SpecimenSchema } from '../../support/gen/specimens_pb.js'
import {
  CountrySchema,
  PersonSchema,
  ProjectSchema,
  StepSchema,
  TaskSchema,
} from '../../support/gen/plans_pb.js'

/** A specimen whose properties are all called otherwise than their fields. */
@Resource({ message: SpecimenSchema, type: 'specimen' })
@Entity('specimens')
@Unique(['mark'])
@TenantScoped()
@SoftDeletable()
@Expirable({ ttl: '30d' })
@Searchable({ sources: [{ cel: 'msg.title + " " + msg.code' }] })
@Emits({ include: 'changed' })
export class Renamed {
  @ProtoField('id') @PrimaryColumn() key!: string
  @ProtoField('title') @Column({ length: 100 }) @Searchable() heading!: string
  @ProtoField('note') @Column({ type: 'text', nullable: true }) remark?: string
  @ProtoField('active') @Column() isActive!: boolean
  @ProtoField('count') @Column() pieces!: number
  @ProtoField('weight') @Column('bigint') grams!: number
  @ProtoField('big') @Column('bigint') large!: bigint
  @ProtoField('huge') @Column('bigint') larger!: bigint
  @ProtoField('ratio') @Column('real') share!: number
  @ProtoField('score') @Column('double precision') points!: number
  @ProtoField('blob') @Column({ type: String }) content!: Uint8Array
  @ProtoField('phase') @Column({ type: String }) state!: Specimen_Phase
  @ProtoField('due_time') @Column({ nullable: true }) dueAt?: Date
  @ProtoField('span') @Column({ type: 'bigint', nullable: true }) period?: bigint
  @ProtoField('labels') @Column('simple-json') words!: string[]
  @ProtoField('origin') @Column({ type: 'simple-json', nullable: true }) source?: SpecimenOrigin
  @ProtoField('tags') @Tags() marks!: Record<string, string>
  @ProtoField('rank') @Column({ type: Number, nullable: true }) position?: number
  @ProtoField('code') @Column() mark!: string
  @Computed(({ key, heading }: Renamed) => `${key}/${heading}`) @ProtoField('serial') series!: string
  @ProtoField('create_time') @CreateTime({ filterable: true }) createdAt!: Date
  @ProtoField('update_time') @UpdateTime({ filterable: true }) updatedAt!: Date
  @ProtoField('etag') @ETag() version!: string
  @ProtoField('webhook_secret') @Secret() hookPassword?: Secret
  @Credential() @ProtoField('api_key') token?: Credential
  @Column({ nullable: true }) bin?: string

  @ProtoField('account_id') accountId!: string
  @ProtoField('delete_time') deletedAt?: Date
  @ProtoField('expire_time') expiresAt?: Date
}

/** The same, called as the fields are. */
@Resource({ message: SpecimenSchema, type: 'specimen' })
@Entity('specimens')
@Unique(['code'])
@TenantScoped()
@SoftDeletable()
@Expirable({ ttl: '30d' })
@Searchable({ sources: [{ cel: 'msg.title + " " + msg.code' }] })
@Emits({ include: 'changed' })
export class Plain {
  @PrimaryColumn() id!: string
  @Column({ length: 100 }) @Searchable() title!: string
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
  @Computed(({ id, title }: Plain) => `${id}/${title}`) serial!: string
  @CreateTime({ filterable: true }) createTime!: Date
  @UpdateTime({ filterable: true }) updateTime!: Date
  @ETag() etag!: string
  @Secret() webhookSecret?: Secret
  @Credential() apiKey?: Credential
  @Column({ nullable: true }) bin?: string

  accountId!: string
  deleteTime?: Date
  expireTime?: Date
}

@Resource({ message: CountrySchema, type: 'country', shared: true })
@Entity('countries')
export class Land {
  @PrimaryColumn() id!: string
  @ProtoField('title') @Column() called!: string
}

@Resource({ message: PersonSchema, type: 'person' })
@Entity('persons')
@TenantScoped()
export class Human {
  @PrimaryColumn() id!: string
  accountId!: string
  @ProtoField('title') @Column() called!: string
  @ProtoField('country_id') @Column({ type: 'varchar', nullable: true }) land?: string
  @ProtoField('country') @ManyToOne(() => Land) @JoinColumn({ name: 'land' }) homeland?: Relation<Land>
  @ProtoField('password') @Column({ type: 'text' }) phrase!: string
}

@Resource({ message: ProjectSchema, type: 'project' })
@Entity('projects')
@TenantScoped()
@SoftDeletable()
export class Venture {
  @PrimaryColumn() id!: string
  accountId!: string
  @ProtoField('title') @Column() called!: string
  @Column({ type: 'varchar', length: 30 }) phase!: number
  /** Its reference is not a property: it is the field `owner_id`. */
  @ProtoField('owner') @ManyToOne(() => Human) holder?: Relation<Human>
  @Secret() apiKey?: Secret
  @Column('bigint') budget!: bigint
  @Column({ type: 'text', nullable: true }) note?: string
  @Tags() labels!: Record<string, string>
  @Column({ nullable: true }) dueTime?: Date
  @ETag() etag!: string
  deleteTime?: Date
  @OneToMany(() => Chore, (chore) => chore.venture) chores?: Relation<Chore>[]
}

@Resource({ message: TaskSchema, type: 'task' })
@Entity('tasks')
@TenantScoped()
@SoftDeletable()
export class Chore {
  @PrimaryColumn() id!: string
  accountId!: string
  @ProtoField('title') @Column() called!: string
  @ProtoField('project_id') @Column({ type: 'varchar', nullable: true }) ventureKey?: string
  @ProtoField('project')
  @ManyToOne(() => Venture, (venture) => venture.chores)
  @JoinColumn({ name: 'venture_key' })
  venture?: Relation<Venture>
  @ProtoField('lead_id') @Column({ type: 'varchar', nullable: true }) chiefId?: string
  @ProtoField('lead') @ManyToOne(() => Human) chief?: Relation<Human>
  @ProtoField('after_id') @Column({ type: 'varchar', nullable: true }) beforeId?: string
  @ProtoField('after') @ManyToOne(() => Chore) before?: Relation<Chore>
  @ProtoField('steps') @OneToMany(() => Move, (move) => move.chore) moves?: Relation<Move>[]
  @ETag() etag!: string
  deleteTime?: Date
}

@Resource({ message: StepSchema, type: 'step' })
@Entity('steps')
@TenantScoped()
export class Move {
  @PrimaryColumn() id!: string
  accountId!: string
  /** Names the field that holds its key. */
  @ProtoField('task_id')
  @ManyToOne(() => Chore, (chore) => chore.moves, { nullable: false })
  chore?: Relation<Chore>
  @Column() title!: string
  @OutputOnly() @Column() done!: boolean
}
