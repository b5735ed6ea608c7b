import {
  AfterRecover,
  AfterSoftRemove,
  BeforeRecover,
  BeforeRemove,
  BeforeSoftRemove,
  BeforeUpdate,
  Column,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  Unique,
} from 'typeorm'
import {
  ETag,
  Expirable,
  Resource,
  SoftDeletable,
  TenantScoped,
  UpdateTime,
} from '../../../decorators/index.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'

/** The calls of the hooks below, in order. */
export const heard: string[] = []
/** A test can replace the effect of hooks. */
export const onHook: { run: ((event: string, id: string, entity: object) => unknown) | undefined } = {
  run: undefined,
}

const tell = (event: string, entity: { readonly id: string }): unknown => {
  heard.push(`${event} ${entity.id}`)
  return onHook.run?.(event, entity.id, entity)
}

/** A shared resource to which every tenant may refer. */
@Resource({ shared: true })
@Entity('countries')
@SoftDeletable()
export class Country {
  @PrimaryColumn({ length: 64 }) id!: string
  deleteTime?: Date
}

/** The parent of all resources that can be undeleted. */
@Resource()
@Entity('projects')
@TenantScoped()
@SoftDeletable()
@Expirable()
export class Project {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ default: '' }) title!: string
  @Column({ nullable: true, length: 64 }) countryId?: string
  @ManyToOne(() => Country)
  @JoinColumn({ name: 'country_id' })
  country?: Country
  @ETag() etag!: string
  @UpdateTime() updateTime!: Date
  accountId!: string
  deleteTime?: Date
  expireTime?: Date
}

/** Deleted with its project. */
@Resource()
@Entity('milestones')
@TenantScoped()
@SoftDeletable()
export class Milestone {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) projectId!: string
  @ManyToOne(() => Project, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'project_id' })
  project?: Project
  @Column({ nullable: true, length: 64 }) countryId?: string
  @ManyToOne(() => Country)
  @JoinColumn({ name: 'country_id' })
  country?: Country
  @ETag() etag!: string
  accountId!: string
  deleteTime?: Date
}

/** Deleted with its project, its milestone and its parent task. It has hooks and a unique value. */
@Resource()
@Entity('jobs')
@Unique(['code'])
@TenantScoped()
@SoftDeletable()
@Expirable()
export class Job {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) code!: string
  @Column({ nullable: true, length: 64 }) projectId?: string
  @ManyToOne(() => Project, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'project_id' })
  project?: Project
  @Column({ nullable: true, length: 64 }) milestoneId?: string
  @ManyToOne(() => Milestone, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'milestone_id' })
  milestone?: Milestone
  @Column({ nullable: true, length: 64 }) aboveId?: string
  @ManyToOne(() => Job, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'above_id' })
  above?: Job
  @ETag() etag!: string
  @UpdateTime() updateTime!: Date
  accountId!: string
  deleteTime?: Date
  expireTime?: Date

  @BeforeSoftRemove() beforeSoftRemove(): unknown {
    return tell('BeforeSoftRemove', this)
  }
  @AfterSoftRemove() afterSoftRemove(): unknown {
    return tell('AfterSoftRemove', this)
  }
  @BeforeRecover() beforeRecover(): unknown {
    return tell('BeforeRecover', this)
  }
  @AfterRecover() afterRecover(): unknown {
    return tell('AfterRecover', this)
  }
}

/** Prevents its job from being deleted. */
@Resource()
@Entity('remarks')
@TenantScoped()
@SoftDeletable()
@Expirable()
export class Remark {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) jobId!: string
  @ManyToOne(() => Job)
  @JoinColumn({ name: 'job_id' })
  job?: Job
  @ETag() etag!: string
  accountId!: string
  deleteTime?: Date
  expireTime?: Date
}

/** Loses its reference when the project is deleted. It has hooks. */
@Resource()
@Entity('bookmarks')
@TenantScoped()
@SoftDeletable()
export class Bookmark {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ nullable: true, length: 64 }) projectId?: string
  @ManyToOne(() => Project, { onDelete: 'SET NULL' })
  @JoinColumn({ name: 'project_id' })
  project?: Project
  @ETag() etag!: string
  accountId!: string
  deleteTime?: Date

  @BeforeUpdate() beforeUpdate(): unknown {
    return tell('BeforeUpdate', this)
  }
}

/** Cannot be undeleted, and prevents the deletion of its project, which can. */
@Resource()
@Entity('invoices')
@TenantScoped()
export class Invoice {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) projectId!: string
  @ManyToOne(() => Project)
  @JoinColumn({ name: 'project_id' })
  project?: Project
  accountId!: string
}

/** The parent of all resources that are permanently deleted. */
@Resource()
@Entity('crates')
@TenantScoped()
@Expirable()
export class Crate {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ nullable: true, length: 64 }) aroundId?: string
  @ManyToOne(() => Crate, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'around_id' })
  around?: Crate
  @ETag() etag!: string
  accountId!: string
  expireTime?: Date

  @BeforeRemove() beforeRemove(): unknown {
    return tell('BeforeRemove', this)
  }
}

/** Deleted with its crate. */
@Resource()
@Entity('bottles')
@TenantScoped()
@SoftDeletable()
export class Bottle {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) crateId!: string
  @ManyToOne(() => Crate, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'crate_id' })
  crate?: Crate
  accountId!: string
  deleteTime?: Date
}

/** Prevents the deletion of its crate. */
@Resource()
@Entity('stickers')
@TenantScoped()
@SoftDeletable()
@Expirable()
export class Sticker {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) crateId!: string
  @ManyToOne(() => Crate)
  @JoinColumn({ name: 'crate_id' })
  crate?: Crate
  accountId!: string
  deleteTime?: Date
  expireTime?: Date
}

export const familyEntities: readonly EntityClass<object>[] = [
  ...[Country, Project, Milestone, Job, Remark, Bookmark, Invoice],
  ...[Crate, Bottle, Sticker],
]
