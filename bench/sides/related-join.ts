import pg from 'pg'
import sqlite3 from 'sqlite3'
import type { Side } from '../subject.js'
import {
  askedOf,
  BenchNote,
  BenchPerson,
  BenchProject,
  BenchTask,
  openFilled,
  PAGE,
  tenants,
} from './related-data.js'

type Row = readonly (string | number | boolean | Date | null)[]
type Query = (name: string, text: string, values: readonly unknown[]) => Promise<readonly Row[]>

const TASK =
  'id, title, description, priority, estimate, due_time, project_id, assignee_id, create_time, update_time, etag, account_id'
const PROJECT = 'id, title, description, due_time, create_time, update_time, etag, account_id'
const PERSON = 'id, display_name, email, is_active, create_time, update_time, etag, account_id'
const NOTE = 'id, text, task_id, create_time, account_id'
const columns = (of: string, names: string) =>
  names.replace(/\w+/g, (name) => `${of}.${name} AS ${of}_${name}`)

const LIVE = 'FROM bench_tasks t WHERE t.account_id = $1 AND t.deleted_at IS NULL'
const ORDER = 'ORDER BY t.title, t.id'
const PAGE_ALONE = `SELECT ${columns('t', TASK)} ${LIVE} ${ORDER} LIMIT $2`
const PAGE_JOINED =
  `SELECT ${[columns('t', TASK), columns('p', PROJECT), columns('u', PERSON)].join(', ')} FROM bench_tasks t ` +
  'LEFT JOIN bench_projects p ON p.account_id = t.account_id AND p.id = t.project_id AND p.deleted_at IS NULL ' +
  'LEFT JOIN bench_people u ON u.account_id = t.account_id AND u.id = t.assignee_id AND u.deleted_at IS NULL ' +
  `WHERE t.account_id = $1 AND t.deleted_at IS NULL ${ORDER} LIMIT $2`
const PAGE_WITH_NOTES =
  `SELECT ${columns('t', TASK)}, ${columns('n', NOTE)} FROM (SELECT * ${LIVE} ${ORDER} LIMIT $2) t ` +
  `LEFT JOIN bench_notes n ON n.account_id = t.account_id AND n.task_id = t.id AND n.deleted_at IS NULL ${ORDER}, n.id`

/** One prepared join whose rows are converted to objects manually. */
export async function setUp(): Promise<Side> {
  const { engine, isAlone } = askedOf(import.meta.url)
  const { location, close } = await openFilled(engine)
  const { query, end } = engine === 'postgres' ? onPostgres(location) : await onSqlite(location)
  const page = async (tenant: string) => {
    const rows = await query(isAlone ? 'alone' : 'joined', isAlone ? PAGE_ALONE : PAGE_JOINED, [
      tenant,
      PAGE + 1,
    ])
    const items = rows.slice(0, PAGE).map((row) => {
      const task = taskOf(row)
      if (isAlone) return task
      if (row[12] !== null) task.project = projectOf(row, 12)
      if (row[20] !== null) task.assignee = personOf(row, 20)
      return task
    })
    check(items, rows.length === PAGE + 1 && (items[0]?.assignee === undefined) === isAlone)
  }
  const withNotes = async (tenant: string) => {
    if (isAlone) return page(tenant)
    const items: BenchTask[] = []
    for (const row of await query('notes', PAGE_WITH_NOTES, [tenant, PAGE + 1])) {
      let task = items.at(-1)
      if (task === undefined || task.id !== row[0])
        items.push((task = Object.assign(taskOf(row), { notes: [] })))
      if (row[12] !== null) task.notes?.push(noteOf(row, 12))
    }
    check(items.slice(0, PAGE), items[0]?.notes !== undefined)
  }
  const few = tenants('few')
  const many = tenants('many')
  const children = tenants('few')
  return {
    operations: {
      'few targets': () => page(few()),
      'a target each': () => page(many()),
      children: () => withNotes(children()),
    },
    async tearDown() {
      await end()
      await close()
    },
  }
}

function check(items: readonly BenchTask[], isWhole: boolean): void {
  if (items.length !== PAGE || !isWhole) throw new TypeError('not the page')
}

function onPostgres(location: string): { query: Query; end: () => Promise<void> } {
  const pool = new pg.Pool({ connectionString: location, max: 10 })
  return {
    query: async (name, text, values) =>
      (await pool.query<never[]>({ name, text, values: [...values], rowMode: 'array' })).rows,
    end: () => pool.end(),
  }
}

async function onSqlite(location: string): Promise<{ query: Query; end: () => Promise<void> }> {
  const database = new sqlite3.Database(location)
  const promised = <T>(call: (done: (error: Error | null, value?: T) => void) => void): Promise<T> =>
    new Promise((resolve, reject) => call((error, value) => (error ? reject(error) : resolve(value as T))))
  const prepared = new Map<string, sqlite3.Statement>()
  return {
    query: async (name, text, values) => {
      let statement = prepared.get(name)
      if (statement === undefined) prepared.set(name, (statement = database.prepare(text)))
      const known = statement
      return (await promised<object[]>((done) => known.all(values, done))).map(
        (row) => Object.values(row) as Row,
      )
    },
    async end() {
      for (const statement of prepared.values())
        await promised((done) => statement.finalize(() => done(null)))
      await promised((done) => database.close(done))
    },
  }
}

const time = (value: Row[number] | undefined): Date =>
  value instanceof Date ? value : new Date(value as string)

function taskOf(row: Row): BenchTask {
  const task = new BenchTask()
  task.id = row[0] as string
  task.title = row[1] as string
  task.description = row[2] as string
  task.priority = row[3] as number
  task.estimate = row[4] as number
  if (row[5] !== null) task.dueTime = time(row[5])
  task.projectId = row[6] as string
  task.assigneeId = row[7] as string
  task.createTime = time(row[8])
  task.updateTime = time(row[9])
  task.etag = row[10] as string
  task.accountId = row[11] as string
  return task
}

function projectOf(row: Row, at: number): BenchProject {
  const project = new BenchProject()
  project.id = row[at] as string
  project.title = row[at + 1] as string
  project.description = row[at + 2] as string
  if (row[at + 3] !== null) project.dueTime = time(row[at + 3])
  project.createTime = time(row[at + 4])
  project.updateTime = time(row[at + 5])
  project.etag = row[at + 6] as string
  project.accountId = row[at + 7] as string
  return project
}

function personOf(row: Row, at: number): BenchPerson {
  const person = new BenchPerson()
  person.id = row[at] as string
  person.displayName = row[at + 1] as string
  person.email = row[at + 2] as string
  person.isActive = Boolean(row[at + 3])
  person.createTime = time(row[at + 4])
  person.updateTime = time(row[at + 5])
  person.etag = row[at + 6] as string
  person.accountId = row[at + 7] as string
  return person
}

function noteOf(row: Row, at: number): BenchNote {
  const note = new BenchNote()
  note.id = row[at] as string
  note.text = row[at + 1] as string
  note.taskId = row[at + 2] as string
  note.createTime = time(row[at + 3])
  note.accountId = row[at + 4] as string
  return note
}
