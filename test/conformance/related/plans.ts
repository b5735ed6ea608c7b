import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { type DevEncryptor, newDev } from '../../../lib/secrets/dev-encryptor.js'
import type { Backend } from '../../support/databases/backends.js'
import { Badge, Country, Person, planEntities, Project, Step, Task } from '../../support/entities/plans.js'
import { Phase } from '../../support/gen/plans_pb.js'
import { collated } from '../repository/open-subject.js'

const onDatabase = {
  Countries: repositoryOf(Country),
  Persons: repositoryOf(Person),
  Projects: repositoryOf(Project),
  Tasks: repositoryOf(Task),
  Steps: repositoryOf(Step),
  Badges: repositoryOf(Badge),
}
const inMemory = {
  Countries: memoryRepositoryOf(Country),
  Persons: memoryRepositoryOf(Person),
  Projects: memoryRepositoryOf(Project),
  Tasks: memoryRepositoryOf(Task),
  Steps: memoryRepositoryOf(Step),
  Badges: memoryRepositoryOf(Badge),
}

type Of<K extends keyof typeof onDatabase> =
  InstanceType<(typeof onDatabase)[K]> | InstanceType<(typeof inMemory)[K]>

export interface Plans {
  readonly countries: Of<'Countries'>
  readonly persons: Of<'Persons'>
  readonly projects: Of<'Projects'>
  readonly tasks: Of<'Tasks'>
  readonly steps: Of<'Steps'>
  readonly badges: Of<'Badges'>
  /** Undefined in memory alone. */
  readonly dataSource: DataSource | undefined
  /**
   * Writes columns past every rule, as somebody at the database might.
   * @param tenant - left out for the rows of all tenants.
   */
  edit(
    entity: EntityClass<object>,
    key: string,
    values: Readonly<Record<string, string | null>>,
    tenant?: string,
  ): Promise<void>
  /** Lets a task refer to what is not there, for the rest of the suite. */
  dropReferenceOfTasks(): Promise<void>
  clear(): Promise<void>
  close(): Promise<void>
}

export interface PlansHolder {
  readonly plans: Plans
}

export const as = <T>(tenant: string, fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ subject: 'ada', tenant, groups: [] }, fn)

export const inAcme = <T>(fn: () => Promise<T>): Promise<T> => as('acme', fn)

/** The statements that `fn` sends; undefined in memory. */
export async function sentBy(
  { dataSource }: Pick<Plans, 'dataSource'>,
  fn: () => Promise<unknown>,
): Promise<string[] | undefined> {
  const texts: string[] = []
  const stop = dataSource && watchStatements(dataSource, ({ text }) => void texts.push(text))
  try {
    await fn()
  } finally {
    stop?.()
  }
  return dataSource && texts
}

const PARENTS_LAST = ['badges', 'steps', 'tasks', 'projects', 'persons', 'countries'] as const

/** Resources that refer to one another, on a fresh database of a backend. */
export async function openPlans(backend: Backend): Promise<Plans> {
  const { dataSource, database, close } = await backend.open([...planEntities])
  const options = { encryptor: newDev(Buffer.alloc(32, 7)) }
  if (dataSource === undefined || database === undefined) return plansInMemory(options)
  await createTables(collated(dataSource, backend), [...planEntities], database.dialect.name)
  const { dialect } = database
  const repositories = {
    countries: new onDatabase.Countries(dataSource, options),
    persons: new onDatabase.Persons(dataSource, options),
    projects: new onDatabase.Projects(dataSource, options),
    tasks: new onDatabase.Tasks(dataSource, options),
    steps: new onDatabase.Steps(dataSource, options),
    badges: new onDatabase.Badges(dataSource, options),
  }
  return {
    ...repositories,
    dataSource,
    edit: async (entity, key, values, tenant) => {
      const model = resourceModel(entity)
      const sets = Object.keys(values).map(
        (name, i) =>
          `${dialect.text.quote(model.byProperty.get(name)?.column ?? name)} = ${dialect.values.countPlaceholder(i + 1)}`,
      )
      const held = [[model.key.column, key], ...(tenant === undefined ? [] : [['account_id', tenant]])]
      const where = held.map(
        ([column = ''], i) =>
          `${dialect.text.quote(column)} = ${dialect.values.countPlaceholder(sets.length + i + 1)}`,
      )
      const update = `UPDATE ${dialect.text.quote(model.table)} SET ${sets.join(', ')} WHERE ${where.join(' AND ')}`
      await dataSource.query(update, [...Object.values(values), ...held.map(([, value]) => value)])
    },
    dropReferenceOfTasks: async () => {
      const { type } = dataSource.options
      const key = 'tasks_account_id_project_id_fkey'
      if (type === 'postgres') await dataSource.query(`ALTER TABLE tasks DROP CONSTRAINT ${key}`)
      else if (type === 'mysql' || type === 'mariadb')
        await dataSource.query(`ALTER TABLE tasks DROP FOREIGN KEY ${key}`)
      else await dataSource.query('PRAGMA foreign_keys = OFF')
    },
    clear: async () => {
      await dataSource.query('UPDATE tasks SET after_id = NULL')
      for (const table of PARENTS_LAST) await dataSource.query(`DELETE FROM ${table}`)
    },
    close,
  }
}

function plansInMemory(options: { readonly encryptor: DevEncryptor }): Plans {
  const database = new MemoryDatabase()
  const all = { ...options, database }
  return {
    countries: new inMemory.Countries(all),
    persons: new inMemory.Persons(all),
    projects: new inMemory.Projects(all),
    tasks: new inMemory.Tasks(all),
    steps: new inMemory.Steps(all),
    badges: new inMemory.Badges(all),
    dataSource: undefined,
    edit: (entity, key, values, tenant) => {
      const model = resourceModel(entity)
      const table = database.resourceOf(model).table
      for (const row of table.find(key, tenant))
        for (const [name, value] of Object.entries(values))
          row[name] =
            value === null
              ? undefined
              : model.byProperty.get(name)?.kind === 'timestamp'
                ? new Date(value)
                : value
      return Promise.resolve()
    },
    dropReferenceOfTasks: () => Promise.resolve(),
    clear: () => {
      for (const entity of planEntities) {
        const { table } = database.resourceOf(resourceModel<object>(entity))
        const log = Object.assign(() => {}, { context: RequestContext.current() })
        for (const row of table.filter(() => true)) table.remove(row, log)
      }
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  }
}

export const aProject = (id: string, more: Partial<Project> = {}): Partial<Project> => ({
  id,
  title: `Project ${id}`,
  phase: Phase.ACTIVE,
  budget: 0n,
  labels: {},
  ...more,
})

export const aPerson = (id: string, more: Partial<Person> = {}): Partial<Person> => ({
  id,
  title: `Person ${id}`,
  password: 'hidden',
  ...more,
})

export const aTask = (id: string, more: Partial<Task> = {}): Partial<Task> => ({
  id,
  title: `Task ${id}`,
  ...more,
})

export const aStep = (id: string, taskId: string, more: Partial<Step> = {}): Partial<Step> => ({
  id,
  taskId,
  title: `Step ${id}`,
  done: false,
  ...more,
})
