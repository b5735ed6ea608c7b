import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DataSource, type EntitySchema, type NamingStrategyInterface } from 'typeorm'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import type { Database } from '../../../lib/persistence/engines/executor/executor.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { askedBackends, inCi } from '../running/asked.js'
import { betterSqlite3 } from './better-sqlite3.js'
import { clusterAddress, databaseOnCluster } from './citus/cluster.js'
import { CITUS_LIMITS } from './citus/limits.js'
import { type Form, isAskedIn, isAskedOn } from './forms.js'
import { coalesceEach, coalesceInGroups } from './coalesced-calls.js'
import { HOSTILE, hostileDatabase, pooledDatabase } from './pooled-database.js'
import { serviceUrl } from '../running/services.js'
import { leftOut } from '../running/summary.js'
import { testDatabase } from './test-database.js'

export type BackendName =
  'memory' | 'sqlite' | 'better-sqlite3' | 'postgres' | 'pgbouncer' | 'mariadb' | 'mysql8'

/** An entity class, or a schema. */
export type EntityOf = (abstract new (...values: never[]) => object) | EntitySchema

/** A new, empty database without tables. `dataSource` and `database` are only undefined in memory. */
export interface OpenBackend {
  readonly dataSource: DataSource | undefined
  readonly database: Database | undefined
  /** Distributes the tables of the entities over the servers of a cluster. Undefined elsewhere. */
  distribute?(): Promise<void>
  /** Disconnects and removes the database. */
  close(): Promise<void>
}

/** The options of a DataSource for table names. `schema` applies to PostgreSQL. */
export interface NamingOptions {
  readonly schema?: string
  readonly entityPrefix?: string
  readonly namingStrategy?: NamingStrategyInterface
}

/** A place where a repository can store rows. `mysql8` is MariaDB, used as if it were MySQL 8. */
export interface Backend {
  readonly name: BackendName
  /** The condition under which it is tested, if any. */
  readonly condition?: string
  /** The variant of another backend that it is. Suites run on it as `FORMS` specifies. */
  readonly form?: Form
  /** The reason why its suites are left out, also in CI. */
  readonly leftOut?: string
  /** The reason why a test does not apply here, by its title. */
  readonly limits?: Readonly<Record<string, string>>
  /** Resolves to true, or to the reason why it is not available. */
  available(): Promise<true | string>
  open(entities: readonly EntityOf[], naming?: NamingOptions): Promise<OpenBackend>
}

const MEMORY: Backend = {
  name: 'memory',
  available: () => Promise.resolve(true),
  open: () => Promise.resolve({ dataSource: undefined, database: undefined, close: () => Promise.resolve() }),
}

const SQLITE: Backend = {
  name: 'sqlite',
  available: () => Promise.resolve(true),
  open: (entities, naming) => openSqlite(entities, { ...naming }),
}

const BETTER_SQLITE3: Backend = {
  name: 'better-sqlite3',
  form: 'better-sqlite3',
  available: () => {
    const engine = betterSqlite3()
    return Promise.resolve(typeof engine === 'string' ? engine : true)
  },
  open: (entities, naming) =>
    openSqlite(entities, { ...naming, ...(betterSqlite3() as { driver: unknown }) }),
}

const POSTGRES: Backend = {
  name: 'postgres',
  available: () => Promise.resolve(serviceUrl('postgres') === undefined ? 'no PostgreSQL' : true),
  open: async (entities, naming) => {
    const { url, drop } = await hostileDatabase()
    return opened(new DataSource({ type: 'postgres', url, entities: [...entities], ...naming }), {}, drop)
  },
}

const PGBOUNCER: Backend = {
  name: 'pgbouncer',
  form: 'pooler',
  available: () =>
    Promise.resolve(serviceUrl('pgbouncer') === undefined ? 'no PgBouncer before PostgreSQL' : true),
  open: async (entities, naming) => {
    const { url, drop } = await pooledDatabase()
    return opened(new DataSource({ type: 'postgres', url, entities: [...entities], ...naming }), {}, drop)
  },
}

const CITUS: Backend = {
  name: 'postgres',
  condition: 'distributed by Citus',
  form: 'citus',
  ...(clusterAddress === '' && { leftOut: 'ASHLAR_TEST_CITUS_URL names no cluster' }),
  limits: CITUS_LIMITS,
  available: () => Promise.resolve(true),
  open: async (entities, naming) => {
    const { url, spread, drop } = await databaseOnCluster(false, HOSTILE)
    const dataSource = new DataSource({ type: 'postgres', url, entities: [...entities], ...naming })
    return { ...(await opened(dataSource, {}, drop)), distribute: () => spread(dataSource) }
  },
}

/**
 * Returns a backend on which calls share statements: each call alone in the shared statement, or with others.
 */
const coalescing = (backend: Backend): readonly Backend[] =>
  Object.entries({ 'merging each call': coalesceEach, 'merging calls in crowds': coalesceInGroups }).map(
    ([condition, begin]) => ({
      ...backend,
      condition,
      form: 'coalescing',
      open: async (entities, naming) => {
        const end = begin()
        try {
          const opened = await backend.open(entities, naming)
          return { ...opened, close: () => opened.close().finally(end) }
        } catch (error) {
          end()
          throw error
        }
      },
    }),
  )

const MARIADB: Backend = {
  name: 'mariadb',
  available: () => Promise.resolve(serviceUrl('mysql') === undefined ? 'no MariaDB' : true),
  open: async (entities, naming) => {
    const { url, drop } = await testDatabase('mysql')
    return opened(new DataSource({ type: 'mariadb', url, entities: [...entities], ...naming }), {}, drop)
  },
}

const MYSQL8: Backend = {
  name: 'mysql8',
  form: 'mysql8',
  available: MARIADB.available,
  open: async (entities, naming) => {
    const { url, drop } = await testDatabase('mysql')
    return opened(
      new DataSource({ type: 'mysql', url, entities: [...entities], ...naming }),
      { dialect: 'mysql' },
      drop,
    )
  },
}

/** The backends that `BACKENDS` selects, such as `sqlite,postgres`. `mysql` selects both MySQL variants. */
export const backends = asked([MEMORY, SQLITE, BETTER_SQLITE3, POSTGRES, MARIADB, MYSQL8])

/** PostgreSQL behind a transaction pooler, for suites that are worth running there, too. */
export const pooled = asked([PGBOUNCER])

/** PostgreSQL whose tables are distributed, for the suites of what Citus supports. */
export const distributed = asked([CITUS])

/** The backends whose calls can share statements. */
export const mergers = asked([SQLITE, POSTGRES, MARIADB])

/** The same backends while calls share statements, for suites about single rows. */
export const coalesced = mergers.flatMap(coalescing)

/** The backends with a database. */
export const databases: readonly Backend[] = backends.filter(({ name }) => name !== 'memory')

function asked(known: readonly Backend[]): readonly Backend[] {
  const wanted = askedBackends()
  return known.filter(({ name }) => {
    const isMysql = name === 'mariadb' || name === 'mysql8'
    return wanted === undefined || wanted.includes(name) || (isMysql && wanted.includes('mysql'))
  })
}

/**
 * Describes a subject for each backend, and for its variants. An unavailable backend is skipped and listed in
 * the summary, and fails the run if `CI` is set.
 */
export function describeOn(
  subject: string,
  on: readonly Backend[],
  define: (this: Mocha.Suite, backend: Backend) => void,
): void {
  for (const backend of on) {
    const { name, condition, form, limits } = backend
    if (!isAskedIn(form, subject) || !isAskedOn(name, subject)) continue
    const where = `${subject} on ${name}${condition === undefined ? '' : `, ${condition}`}`
    if (backend.leftOut !== undefined) {
      leftOut(where, backend.leftOut)
      continue
    }
    describe(where, function () {
      before(async function () {
        const available = await backend.available()
        if (available === true) return
        leftOut(where, available)
        if (inCi()) throw new TypeError(`${backend.name} cannot be had: ${available}`)
        this.skip()
      })
      if (limits !== undefined)
        beforeEach(function () {
          if (Object.hasOwn(limits, this.currentTest?.title ?? '')) this.skip()
        })
      define.call(this, backend)
    })
  }
}

/** Returns the parts of a subject to run on a backend: all parts, unless it is a variant. */
export const partsOn = <P>(
  { form }: Backend,
  subject: string,
  parts: Readonly<Record<string, P>>,
): readonly P[] =>
  Object.entries(parts).flatMap(([name, part]) => (isAskedIn(form, subject, name) ? [part] : []))

async function openSqlite(
  entities: readonly EntityOf[],
  options: NamingOptions & { readonly driver?: unknown },
): Promise<OpenBackend> {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-sqlite-'))
  const dataSource = new SqliteDataSource({
    database: join(folder, 'test.db'),
    entities: [...entities],
    ...options,
  })
  return opened(dataSource, {}, () => {
    rmSync(folder, { recursive: true, force: true })
    return Promise.resolve()
  })
}

async function opened(
  dataSource: DataSource,
  options: Parameters<typeof executorOf>[1],
  drop: () => Promise<void>,
): Promise<OpenBackend> {
  try {
    await dataSource.initialize()
  } catch (error) {
    await drop()
    throw error
  }
  return {
    dataSource,
    database: executorOf(dataSource, options),
    close: async () => {
      if (dataSource.isInitialized) await dataSource.destroy()
      await drop()
    },
  }
}

/** Opens a backend with the tables of entities. Memory has none. `mysql8` uses MariaDB. */
export async function openWithTables(
  backend: Pick<Backend, 'name' | 'open'>,
  entities: readonly EntityClass<object>[],
): Promise<OpenBackend> {
  const opened = await backend.open(entities)
  const { dataSource, database } = opened
  if (dataSource !== undefined && database !== undefined)
    await createTables(dataSource, entities, backend.name === 'mysql8' ? 'mariadb' : database.dialect.name)
  await opened.distribute?.()
  return opened
}
