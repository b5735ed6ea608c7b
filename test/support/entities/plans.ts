import {
  AfterLoad,
  Column,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  type Relation,
} from 'typeorm'
import { ETag, Resource, Secret, SoftDeletable, Tags, TenantScoped } from '../../../decorators/index.js'
import {
  CountrySchema,
  PersonSchema,
  type Phase,
  ProjectSchema,
  StepSchema,
  TaskSchema,
} from '../gen/plans_pb.js'

@Resource({ message: CountrySchema, shared: true })
@Entity('countries')
export class Country {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @OneToMany(() => Person, (person) => person.country) persons?: Relation<Person>[]
}

@Resource({ message: PersonSchema })
@Entity('persons')
@TenantScoped()
export class Person {
  @PrimaryColumn() id!: string
  accountId!: string
  @Column() title!: string
  @Column({ type: 'varchar', nullable: true }) countryId?: string
  @ManyToOne(() => Country, (country) => country.persons) country?: Relation<Country>
  @Column({ type: 'text' }) password!: string
  @OneToOne(() => Badge, (badge) => badge.person) badge?: Relation<Badge>

  /** The number of calls, which is not stored. */
  called = 0

  @AfterLoad() greet() {
    this.called++
  }
}

@Resource({ message: ProjectSchema })
@Entity('projects')
@TenantScoped()
@SoftDeletable()
export class Project {
  @PrimaryColumn() id!: string
  accountId!: string
  @Column() title!: string
  @Column({ type: 'varchar', length: 30 }) phase!: Phase
  @Column({ type: 'varchar', nullable: true }) ownerId?: string
  @ManyToOne(() => Person) owner?: Relation<Person>
  @Secret() apiKey?: Secret
  @Column('bigint') budget!: bigint
  @Column({ type: 'text', nullable: true }) note?: string
  @Tags() labels!: Record<string, string>
  @Column({ nullable: true }) dueTime?: Date
  @ETag() etag!: string
  deleteTime?: Date
  @OneToMany(() => Task, (task) => task.project) tasks?: Relation<Task>[]
}

@Resource({ message: TaskSchema })
@Entity('tasks')
@TenantScoped()
@SoftDeletable()
export class Task {
  @PrimaryColumn() id!: string
  accountId!: string
  @Column() title!: string
  @Column({ type: 'varchar', nullable: true }) projectId?: string
  @ManyToOne(() => Project, (project) => project.tasks) project?: Relation<Project>
  @Column({ type: 'varchar', nullable: true }) leadId?: string
  @ManyToOne(() => Person) lead?: Relation<Person>
  @Column({ type: 'varchar', nullable: true }) afterId?: string
  @ManyToOne(() => Task) after?: Relation<Task>
  @OneToMany(() => Step, (step) => step.task) steps?: Relation<Step>[]
  @ETag() etag!: string
  deleteTime?: Date
}

@Resource({ message: StepSchema })
@Entity('steps')
@TenantScoped()
export class Step {
  @PrimaryColumn() id!: string
  accountId!: string
  @Column() taskId!: string
  @ManyToOne(() => Task, (task) => task.steps)
  @JoinColumn({ name: 'task_id' })
  task?: Relation<Task>
  @Column() title!: string
  @Column() done!: boolean
}

/** A resource without a message, and without a property for its reference. */
@Resource()
@Entity('badges')
@TenantScoped()
export class Badge {
  @PrimaryColumn() id!: string
  accountId!: string
  @OneToOne(() => Person, (person) => person.badge) @JoinColumn() person?: Relation<Person>
  @Column() color!: string
}

export const planEntities = [Country, Person, Project, Task, Step, Badge] as const
