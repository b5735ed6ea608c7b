import { existsSync } from 'node:fs'
import { DataSource, TypeORMError } from 'typeorm'
import { type Problem, problem } from '../errors.js'
import { databaseFile } from './engines/dsn/dsn-engines.js'
import { resolveDsn } from './hot-reload/dsn.js'
import { HotDataSource, type HotOptions } from './hot-reload/hot-data-source.js'
import { SqliteDataSource } from './sqlite-data-source.js'

type EntityList = readonly (new () => object)[]

/** A DataSource with the metadata of classes, or the reason why there is none. */
export interface InspectedDatabase {
  readonly dataSource?: DataSource
  /** The parts that were not inspected, with reasons. */
  readonly notes: readonly string[]
  /** The declarations that TypeORM rejects. */
  readonly problems: readonly Problem[]
}

/**
 * Connects to the database of a connection string. Changes nothing in it.
 *
 * @throws TypeError if the connection string is invalid.
 */
export async function connected(
  url: string,
  entities: EntityList,
  naming: Pick<HotOptions, 'entityPrefix' | 'namingStrategy'>,
): Promise<InspectedDatabase> {
  const file = databaseFile(await resolveDsn(url))
  if (file !== undefined && file !== ':memory:' && !existsSync(file)) {
    const { notes, ...rest } = await unconnected(entities)
    return { ...rest, notes: [`the database is not checked: there is no file ${file}`, ...notes] }
  }
  const options = { ...naming, entities: [...entities] }
  const dataSource =
    file === undefined
      ? new HotDataSource({ ...options, dsn: url })
      : new SqliteDataSource({ ...options, database: file, synchronize: false })
  try {
    return { dataSource: await dataSource.initialize(), notes: [], problems: [] }
  } catch (error) {
    const { message } = error as Error
    if (error instanceof TypeORMError && !('driverError' in error))
      return { notes: [], problems: [problem('typeorm', `TypeORM: ${message}`)] }
    const { notes, ...rest } = await unconnected(entities)
    return {
      ...rest,
      notes: [`the database is not checked, because it cannot be reached: ${message}`, ...notes],
    }
  }
}

/** The step of TypeORM's `initialize()` after it has connected. */
interface Building {
  buildMetadatas(): Promise<void>
}

/**
 * Builds the metadata of classes without a database, for the first engine that supports all column types and
 * whose driver is installed.
 */
export async function unconnected(entities: EntityList): Promise<InspectedDatabase> {
  let reason = ''
  for (const make of ENGINES)
    try {
      const dataSource = make([...entities])
      await (dataSource as unknown as Building).buildMetadatas()
      return { dataSource, notes: [], problems: [] }
    } catch (error) {
      reason ||= (error as Error).message
    }
  return { notes: [`effects of relations in the database are not listed: ${reason}`], problems: [] }
}

const ENGINES: readonly ((entities: (new () => object)[]) => DataSource)[] = [
  (entities) => new DataSource({ type: 'postgres', entities }),
  (entities) => new DataSource({ type: 'mysql', entities }),
  (entities) => new SqliteDataSource({ database: ':memory:', synchronize: false, entities }),
]
