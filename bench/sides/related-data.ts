import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  Column,
  DataSource,
  Entity,
  Index,
  JoinColumn,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  type Relation,
} from 'typeorm'
import {
  CreateTime,
  ETag,
  Resource,
  SoftDeletable,
  TenantScoped,
  UpdateTime,
} from '../../decorators/index.js'
import { RequestContext } from '../../lib/context.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import { SqliteDataSource } from '../../lib/persistence/sqlite-data-source.js'
import { TypeormRepository } from '../../lib/persistence/sql/typeorm-repository.js'
import { benchUrl, POOL } from './postgres-address.js'
import { filledOnce } from './postgres-data.js'

@Resource()
@Entity('bench_projects')
@TenantScoped()
@SoftDeletable()
export class BenchProject {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column('text') description!: string
  @Column({ nullable: true }) dueTime?: Date
  @CreateTime() createTime!: Date
  @UpdateTime() updateTime!: Date
  @ETag() etag!: string
  accountId!: string
  deleteTime?: Date
}

@Resource()
@Entity('bench_people')
@TenantScoped()
@SoftDeletable()
export class BenchPerson {
  @PrimaryColumn() id!: string
  @Column() displayName!: string
  @Column() email!: string
  @Column() isActive!: boolean
  @CreateTime() createTime!: Date
  @UpdateTime() updateTime!: Date
  @ETag() etag!: string
  accountId!: string
  deleteTime?: Date
}

@Resource()
@Entity('bench_tasks')
@TenantScoped()
@SoftDeletable()
@Index(['title'])
export class BenchTask {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column('text') description!: string
  @Column() priority!: number
  @Column('double precision') estimate!: number
  @Column({ nullable: true }) dueTime?: Date
  @Column() projectId!: string
  @ManyToOne(() => BenchProject) @JoinColumn({ name: 'project_id' }) project?: Relation<BenchProject>
  @Column() assigneeId!: string
  @ManyToOne(() => BenchPerson) @JoinColumn({ name: 'assignee_id' }) assignee?: Relation<BenchPerson>
  @OneToMany(() => BenchNote, (note) => note.task) notes?: Relation<BenchNote>[]
  @CreateTime() createTime!: Date
  @UpdateTime() updateTime!: Date
  @ETag() etag!: string
  accountId!: string
  deleteTime?: Date
}

@Resource()
@Entity('bench_notes')
@TenantScoped()
@SoftDeletable()
@Index(['task'])
export class BenchNote {
  @PrimaryColumn() id!: string
  @Column('text') text!: string
  @Column() taskId!: string
  @ManyToOne(() => BenchTask, (task) => task.notes)
  @JoinColumn({ name: 'task_id' })
  task?: Relation<BenchTask>
  @CreateTime() createTime!: Date
  accountId!: string
  deleteTime?: Date
}

const ENTITIES = [BenchProject, BenchPerson, BenchTask, BenchNote] as const
export const PAGE = 50
/** The number of tasks of each tenant. */
const TASKS = 200
const NOTES_OF_TASK = 3
/**
 * The number of tenants of each kind. The kind determines how many projects and people the tasks of a tenant
 * share.
 */
const TENANTS = 5

/** A page of `few` refers to about 18 projects and 28 people, a page of `many` to 50 of each. */
type Sharing = 'few' | 'many'
const SHARED = { few: { projects: 20, people: 40 }, many: { projects: TASKS, people: TASKS } } as const

/** Returns a function that selects the tenant of the next page. */
export function tenants(sharing: Sharing): () => string {
  let n = 0
  return () => `${sharing}-${n++ % TENANTS}`
}

type Engine = 'sqlite' | 'postgres'

/** Returns the options in the URL of a side. */
export function askedOf(side: string): { readonly engine: Engine; readonly isAlone: boolean } {
  const { searchParams } = new URL(side)
  return {
    engine: searchParams.get('engine') === 'postgres' ? 'postgres' : 'sqlite',
    isAlone: searchParams.get('relations') === 'none',
  }
}

/** A filled database. */
export interface Filled {
  readonly dataSource: DataSource
  /** A URL for PostgreSQL, a file for SQLite. */
  readonly location: string
  readonly close: () => Promise<void>
}

/** Opens the filled tables: one database on PostgreSQL, and a separate file for each side on SQLite. */
export async function openFilled(engine: Engine): Promise<Filled> {
  if (engine === 'postgres') {
    const location = benchUrl(DATABASE)
    const open = () =>
      new DataSource({
        type: 'postgres',
        url: location,
        entities: [...ENTITIES],
        poolSize: POOL,
      }).initialize()
    await filledOnce(DATABASE, async () => {
      const dataSource = await open()
      try {
        await createTables(dataSource, [...ENTITIES], 'postgres')
        await fillTables(dataSource)
        await dataSource.query('VACUUM ANALYZE')
      } finally {
        await dataSource.destroy()
      }
    })
    const dataSource = await open()
    return { dataSource, location, close: () => dataSource.destroy() }
  }
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-bench-'))
  const location = join(folder, 'tasks.sqlite')
  const dataSource = await new SqliteDataSource({
    database: location,
    engine: 'sqlite3',
    entities: [...ENTITIES],
  }).initialize()
  await fillTables(dataSource)
  await dataSource.query('ANALYZE')
  const close = async () => {
    await dataSource.destroy()
    rmSync(folder, { recursive: true, force: true })
  }
  return { dataSource, location, close }
}

const DATABASE = 'ashlar_bench_tasks'

export const contextOf = (tenant: string): RequestContext =>
  new RequestContext({ principal: { tenant, subject: 'bench', groups: [], scopes: [] } })

async function fillTables(dataSource: DataSource): Promise<void> {
  const projects = new TypeormRepository(dataSource, BenchProject)
  const people = new TypeormRepository(dataSource, BenchPerson)
  const tasks = new TypeormRepository(dataSource, BenchTask)
  const notes = new TypeormRepository(dataSource, BenchNote)
  for (const sharing of ['few', 'many'] as const) {
    const { projects: projectCount, people: personCount } = SHARED[sharing]
    const next = tenants(sharing)
    for (let tenant = 0; tenant < TENANTS; tenant++) {
      const context = contextOf(next())
      await tasks.transaction(
        async () => {
          for (let n = 0; n < projectCount; n++) await projects.create(projectOf(n))
          for (let n = 0; n < personCount; n++) await people.create(personOf(n))
          for (let n = 0; n < TASKS; n++) {
            const task = taskOf(n, projectCount, personCount)
            await tasks.create(task)
            for (let note = 0; note < NOTES_OF_TASK; note++) await notes.create(noteOf(task.id, note))
          }
        },
        { context },
      )
    }
  }
}

const keyOf = (kind: string, n: number): string => `${kind}-${String(n).padStart(5, '0')}`

const projectOf = (n: number) => ({
  id: keyOf('project', n),
  title: `Project ${n} of the year`,
  description: `What project ${n} is about, in a sentence of the usual length`,
  dueTime: new Date(Date.UTC(2030, n % 12, 1 + (n % 28))),
})

const personOf = (n: number) => ({
  id: keyOf('person', n),
  displayName: `Person Number ${n}`,
  email: `person.${n}@example.com`,
  isActive: n % 9 !== 0,
})

const taskOf = (n: number, projects: number, people: number) => ({
  id: keyOf('task', n),
  title: `Task ${(n * 7919) % 1009} to do`,
  description: `A task that somebody wrote down, number ${n} of a long series`,
  priority: n % 5,
  estimate: n / 4,
  ...(n % 3 !== 0 && { dueTime: new Date(Date.UTC(2030, n % 12, 1 + (n % 28))) }),
  projectId: keyOf('project', (n * 31) % projects),
  assigneeId: keyOf('person', (n * 17) % people),
})

const noteOf = (taskId: string, n: number) => ({
  id: `${taskId}-note-${n}`,
  text: `Note ${n} on ${taskId}, with what was said about it`,
  taskId,
})
