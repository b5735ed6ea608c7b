import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm'
import { Expirable, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { ClubSchema, FeeSchema, MemberSchema } from '../../support/gen/clubs_pb.js'

@Resource({ message: ClubSchema })
@Entity('clubs')
@TenantScoped()
@SoftDeletable()
@Expirable()
export class Club {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column() title!: string
  accountId!: string
  deleteTime?: Date
  expireTime?: Date
}

@Resource({ message: MemberSchema })
@Entity('members')
@TenantScoped()
@SoftDeletable()
@Expirable()
export class Member {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column() title!: string
  @Column({ nullable: true, length: 64 }) clubId?: string
  @ManyToOne(() => Club, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'club_id' })
  club?: Relation<Club>
  @Column({ nullable: true, length: 64 }) buddyId?: string
  @ManyToOne(() => Member, { onDelete: 'SET NULL' })
  @JoinColumn({ name: 'buddy_id' })
  buddy?: Relation<Member>
  /** Of another process. */
  @Column() makerId!: string
  accountId!: string
  deleteTime?: Date
  expireTime?: Date
}

@Resource({ message: FeeSchema })
@Entity('fees')
@TenantScoped()
@SoftDeletable()
@Expirable()
export class Fee {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column() title!: string
  @Column({ length: 64 }) memberId!: string
  @ManyToOne(() => Member)
  @JoinColumn({ name: 'member_id' })
  member?: Relation<Member>
  accountId!: string
  deleteTime?: Date
  expireTime?: Date
}

export const clubEntities: readonly EntityClass<object>[] = [Club, Member, Fee]
