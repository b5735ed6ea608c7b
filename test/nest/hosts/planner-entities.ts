import {
  BeforeInsert,
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  Index,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  JoinColumn,
  PrimaryGeneratedColumn,
  RelationId,
  Unique,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm'
import { Resource } from '../../../decorators/index.js'
import { TaskMessage, Titled } from './planner-messages.js'

const EXISTING = { existing: true, naming: 'typeorm', shared: true } as const // for @Resource()

export abstract class Base {
  @PrimaryGeneratedColumn('uuid') id!: string
  @Column() title!: string
  @CreateDateColumn({ type: 'timestamptz' }) createdAt!: Date
  @UpdateDateColumn({ type: 'timestamptz' }) updatedAt!: Date
}

@Resource({ ...EXISTING, message: Titled })
@Entity('people')
@Unique(['email'])
export class Person extends Base {
  @Column({ default: '' }) email!: string
  @Column({ select: false, nullable: true }) passwordHash?: string
  @OneToMany(() => Task, (task) => task.lead) tasks?: Task[]
  @BeforeInsert() lower() {
    this.email = this.email.toLowerCase()
  }
}

@Resource({ ...EXISTING, message: Titled })
@Entity('projects')
export class Project extends Base {
  @Column({ type: 'numeric', precision: 12, scale: 2, default: 0 }) budget!: string
  @Column({ type: 'jsonb', default: {} }) settings!: Record<string, unknown>
  @OneToMany(() => Task, (task) => task.project, { cascade: true }) tasks?: Task[]
  @ManyToMany(() => Person) @JoinTable({ name: 'project_members' }) members?: Person[]
}

@Resource({ ...EXISTING, message: TaskMessage, type: 'task' })
@Entity('tasks')
@Index(['title'], { where: '"done" = false' })
export class Task extends Base {
  @Column({ default: false }) done!: boolean
  @Column({ nullable: true }) projectId?: string
  @ManyToOne(() => Project, (project) => project.tasks, { onDelete: 'CASCADE' }) project?: Project
  @ManyToOne(() => Person, (person) => person.tasks, { nullable: true, onDelete: 'SET NULL' }) lead?: Person
  @RelationId((task: Task) => task.labels) labelIds?: string[]
  @ManyToMany(() => Label, (label) => label.tasks) @JoinTable() labels?: Label[]
  @OneToMany(() => Comment, (comment) => comment.task) comments?: Comment[]
  @DeleteDateColumn({ type: 'timestamptz' }) deletedAt?: Date
  @VersionColumn() revision!: number
}

@Resource({ ...EXISTING, message: Titled })
@Entity('comments')
export class Comment extends Base {
  @Column('text', { default: '' }) body!: string
  @Column('uuid') taskId!: string
  @ManyToOne(() => Task, (task) => task.comments, { onDelete: 'CASCADE' }) task?: Task
}

@Resource({ ...EXISTING, message: Titled })
@Entity('labels')
export class Label extends Base {
  @Column({ type: 'enum', enum: ['red', 'green'], default: 'red' }) colour!: string
  @ManyToMany(() => Task, (task) => task.labels) tasks?: Task[]
}

@Resource({ ...EXISTING, message: Titled })
@Entity('attachments')
export class Attachment extends Base {
  @Column({ type: 'bigint', default: 0 }) bytes!: string
  @Column('text', { array: true, default: [] }) pages!: string[]
}

@Resource({ ...EXISTING, message: Titled })
@Entity('milestones')
export class Milestone extends Base {
  @Column({ type: 'date', nullable: true }) due?: string
  @OneToOne(() => Project) @JoinColumn() project?: Project
}

@Resource({ ...EXISTING, message: Titled })
@Entity('time_entries')
export class TimeEntry extends Base {
  @Column({ type: 'interval', nullable: true }) spent?: unknown
  @Column({ type: 'time', nullable: true }) begun?: string
}

@Resource({ ...EXISTING, message: Titled })
@Entity('checklists')
export class Checklist extends Base {
  @Column('simple-array', { default: '' }) lines!: string[]
}

@Resource({ ...EXISTING, message: Titled })
@Entity('settings')
export class Setting extends Base {
  @Column({ unique: true }) key!: string
  @Column({ type: 'simple-json', nullable: true }) value?: unknown
}
