import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { RepositoryOptions } from '../../../lib/persistence/sql/typeorm-repository.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import type { Backend } from '../../support/databases/backends.js'
import {
  Bookmark,
  Bottle,
  Country,
  Crate,
  familyEntities,
  heard,
  Invoice,
  Job,
  Milestone,
  onHook,
  Project,
  Remark,
  Sticker,
} from '../../support/entities/family.js'
import { collated } from '../repository/open-subject.js'

type Any<E extends object> = Repository<E>

/** The resources of a family, on one database. */
export interface FamilySubject {
  readonly countries: Any<Country>
  readonly projects: Any<Project>
  readonly milestones: Any<Milestone>
  readonly jobs: Any<Job>
  readonly remarks: Any<Remark>
  readonly bookmarks: Any<Bookmark>
  readonly invoices: Any<Invoice>
  readonly crates: Any<Crate>
  readonly bottles: Any<Bottle>
  readonly stickers: Any<Sticker>
}

export interface OpenFamily {
  readonly of: FamilySubject
  /** Undefined in memory alone. */
  readonly dataSource: DataSource | undefined
  clear(): Promise<void>
  close(): Promise<void>
}

export interface FamilyHolder {
  readonly subject: OpenFamily
}

/** The time of all repositories of a family. */
export const familyClock = { now: new Date('2026-03-04T05:06:07.089Z') }
export const familyOptions: RepositoryOptions = { now: () => new Date(familyClock.now) }

export async function openFamily(backend: Backend): Promise<OpenFamily> {
  const { dataSource, database, close, distribute } = await backend.open([...familyEntities])
  if (dataSource === undefined || database === undefined) {
    const subject = {
      of: inMemory(),
      dataSource: undefined,
      clear: () => Promise.resolve(void Object.assign(subject, { of: inMemory() })),
      close: () => Promise.resolve(),
    }
    return subject
  }
  await createTables(collated(dataSource, backend), familyEntities, database.dialect.name)
  await distribute?.()
  return {
    of: onDataSource(dataSource),
    dataSource,
    clear: async () => {
      await dataSource.query('UPDATE jobs SET above_id = NULL')
      await dataSource.query('UPDATE crates SET around_id = NULL')
      for (const table of [
        ...['bookmarks', 'invoices', 'remarks', 'jobs', 'milestones', 'projects', 'countries'],
        ...['bottles', 'stickers', 'crates'],
      ])
        await dataSource.query(`DELETE FROM ${table}`)
    },
    close,
  }
}

export const onDataSource = (dataSource: DataSource): FamilySubject =>
  repositories((entity) => new (repositoryOf(entity))(dataSource, familyOptions))

function inMemory(): FamilySubject {
  const database = new MemoryDatabase()
  return repositories((entity) => new (memoryRepositoryOf(entity))({ ...familyOptions, database }))
}

const repositories = (make: (entity: EntityClass<object>) => unknown): FamilySubject => ({
  countries: make(Country) as Any<Country>,
  projects: make(Project) as Any<Project>,
  milestones: make(Milestone) as Any<Milestone>,
  jobs: make(Job) as Any<Job>,
  remarks: make(Remark) as Any<Remark>,
  bookmarks: make(Bookmark) as Any<Bookmark>,
  invoices: make(Invoice) as Any<Invoice>,
  crates: make(Crate) as Any<Crate>,
  bottles: make(Bottle) as Any<Bottle>,
  stickers: make(Sticker) as Any<Sticker>,
})

export const as = <T>(tenant: string, fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant, subject: 'ada' }, fn)
export const inAcme = <T>(fn: () => Promise<T>): Promise<T> => as('acme', fn)

export function quietFamily(): void {
  heard.length = 0
  onHook.run = undefined
}

let sequence = 0

/** What the cases of a family need. */
export const familyCases = (holder: FamilyHolder) => {
  const of = () => holder.subject.of
  const states = async (tenant = 'acme'): Promise<Record<string, string>> =>
    as(tenant, async () => {
      const all: Record<string, string> = {}
      for (const [name, repository] of Object.entries(of()) as [string, Repository<object>][]) {
        const { items } = await repository.list({ showDeleted: true, pageSize: 1000 })
        for (const item of items as { id: string; deleteTime?: Date }[])
          all[`${name.slice(0, -1)} ${item.id}`] = item.deleteTime === undefined ? 'live' : 'deleted'
      }
      return all
    })
  return {
    of,
    states,
    /** The rows that are in a state. */
    rows: async (state: 'live' | 'deleted', tenant = 'acme') =>
      Object.entries(await states(tenant))
        .filter(([, is]) => is === state)
        .map(([name]) => name)
        .sort(),
    project: (id: string, more: Partial<Project> = {}) => inAcme(() => of().projects.create({ id, ...more })),
    milestone: (id: string, projectId: string) => inAcme(() => of().milestones.create({ id, projectId })),
    job: (id: string, more: Partial<Job> = {}) =>
      inAcme(() => of().jobs.create({ id, code: `code-${++sequence}`, ...more })),
    remark: (id: string, jobId: string, more: Partial<Remark> = {}) =>
      inAcme(() => of().remarks.create({ id, jobId, ...more })),
  }
}
