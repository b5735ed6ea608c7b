import { AfterLoad, Column, Entity, PrimaryColumn, Unique } from 'typeorm'
import {
  Computed,
  CreateTime,
  Credential,
  ETag,
  Expirable,
  Resource,
  Secret,
  SoftDeletable,
  Tags,
  TenantScoped,
  UpdateTime,
} from '../../../decorators/index.js'
import { SpecimenSchema, Specimen_Phase } from '../gen/specimens_pb.js'
import type { SpecimenOrigin } from './specimen.js'

/** A test can replace the function of `score`. */
export const reckoning: { score?: (() => unknown) | undefined } = {}

/** A specimen whose fields of every kind are computed from others. */
@Resource({ message: SpecimenSchema, type: 'specimen' })
@Entity('reckoned')
@Unique(['code'])
@TenantScoped()
@SoftDeletable()
@Expirable({ ttl: '30d' })
export class Reckoned {
  readonly #separator = '/'
  @PrimaryColumn() id!: string
  @Column({ length: 100 }) title!: string
  /** The value shows if the functions can read protected values. */
  @Computed((one: Reckoned) => `${String(one.apiKey)} ${String(one.webhookSecret)}`) note?: string
  @Computed((one: Reckoned) => one.title !== '') active!: boolean
  @Computed((one: Reckoned) => one.labels.length) count!: number
  @Column('bigint') weight!: number
  @Computed((one: Reckoned) => BigInt(one.weight) * 2n) big!: bigint
  @Column('bigint') huge!: bigint
  @Column('real') ratio!: number
  @Computed((one: Reckoned) => (reckoning.score === undefined ? one.ratio / 2 : reckoning.score()))
  score!: number
  @Computed((one: Reckoned) => Buffer.from(one.title)) blob!: Uint8Array
  @Computed((one: Reckoned) => (one.title === '' ? 0 : Specimen_Phase.CUT)) phase!: Specimen_Phase
  @Computed((one: Reckoned) => new Date(one.createTime.getTime() + 1000)) dueTime?: Date
  @Column({ type: 'bigint', nullable: true }) span?: bigint
  @Column('simple-json') labels!: string[]
  @Computed((one: Reckoned) => ({ quarry: one.title, depth: one.big, crew: one.labels }))
  origin?: SpecimenOrigin
  @Tags() tags!: Record<string, string>
  @Computed((one: Reckoned) => (one.count === 0 ? undefined : one.count)) rank?: number
  @Column() code!: string
  /** The field is also OUTPUT_ONLY in the message. */
  @Computed((one: Reckoned) => `${one.code}${one.#separator}${one.title}${one.loaded ?? ''}`) serial!: string
  @CreateTime({ filterable: true }) createTime!: Date
  @UpdateTime({ filterable: true }) updateTime!: Date
  @ETag() etag!: string
  @Secret() webhookSecret?: Secret
  @Credential() apiKey?: Credential
  @Column({ nullable: true }) bin?: string

  accountId!: string
  deleteTime?: Date
  expireTime?: Date
  /** Not stored. */
  loaded?: string

  @AfterLoad() afterLoad(): void {
    if (this.title === 'hooked') this.loaded = ' (loaded)'
  }
}
