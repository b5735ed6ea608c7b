import {
  Column,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  type Relation,
} from 'typeorm'
import { ETag, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'

/** All tenants share it. */
@Resource({ shared: true })
@Entity('currencies')
export class Currency {
  @PrimaryColumn() id!: string
}

/** The key alone is the primary key. */
@Resource()
@Entity('teams')
export class Team {
  @PrimaryColumn() id!: string
  @Column() accountId!: string
  @Column({ nullable: true }) label?: string
}

@Resource()
@Entity('projects')
@TenantScoped()
@SoftDeletable()
export class Project {
  @PrimaryColumn() id!: string
  @Column({ nullable: true }) title?: string
  @ETag() etag?: string
  accountId!: string
  deleteTime?: Date
  @Column({ nullable: true }) teamId?: string
  @ManyToOne(() => Team) team?: Team
  @ManyToOne(() => Currency) currency?: Currency
  @OneToMany(() => Task, (task) => task.project) tasks?: Task[]
  @OneToOne(() => Charter, (charter) => charter.project) charter?: Relation<Charter>
}

@Resource()
@Entity('tasks')
@TenantScoped()
@SoftDeletable()
export class Task {
  @PrimaryColumn() id!: string
  @Column({ nullable: true }) title?: string
  @ETag() etag?: string
  accountId!: string
  deleteTime?: Date
  @Column() projectId!: string
  @ManyToOne(() => Project, (project) => project.tasks)
  @JoinColumn({ name: 'project_id' })
  project?: Project
  /** Without a property of its own. */
  @ManyToOne(() => Task) after?: Task
}

/** One for each project. */
@Resource()
@Entity('charters')
@TenantScoped()
export class Charter {
  @PrimaryColumn() id!: string
  accountId!: string
  @OneToOne(() => Project, (project) => project.charter, { nullable: false })
  @JoinColumn()
  project?: Project
}

/** Each refers to the other. */
@Resource()
@Entity('lefts')
@TenantScoped()
export class Left {
  @PrimaryColumn() id!: string
  accountId!: string
  @Column({ nullable: true }) rightId?: string
  @ManyToOne(() => Right) right?: Relation<Right>
}

@Resource()
@Entity('rights')
@TenantScoped()
export class Right {
  @PrimaryColumn() id!: string
  accountId!: string
  @Column({ nullable: true }) leftId?: string
  @ManyToOne(() => Left) left?: Relation<Left>
}

export const RELATED = [Currency, Team, Project, Task, Charter, Left, Right] as const
