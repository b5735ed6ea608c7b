import { DataSource } from 'typeorm'
import { createTables } from '../../../../lib/persistence/schema/create-tables.js'
import type { EntityClass } from '../../../../lib/resource/resource-model.js'
import { databases, describeOn } from '../../../support/databases/backends.js'
import { applyBaseline } from '../../../support/databases/baseline.js'
import { leftOut } from '../../../support/running/summary.js'
import {
  clusterAddress,
  databaseOnCluster,
  sendTo,
  type Spread,
  withCredentials,
} from '../../../support/databases/citus/cluster.js'
import { testDatabase } from '../../../support/databases/test-database.js'

/** Adds the extension to the catalog's list, with nothing behind it. */
export const LISTED = [
  'BEGIN',
  'SET LOCAL allow_system_table_mods = on',
  `INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
   SELECT 99999, 'citus', extowner, extnamespace, extrelocatable, '0' FROM pg_extension WHERE extname = 'plpgsql'`,
  'COMMIT',
]

/** PostgreSQL whose list of extensions has the name. */
async function listed(): Promise<Spread> {
  const { url, drop } = await testDatabase('postgres')
  await sendTo(url, ...LISTED)
  return { url, spread: () => Promise.resolve(), drop }
}

/** PostgreSQL that gets the name into its list of extensions when tables are distributed. */
async function listedLater(): Promise<Spread> {
  const { url, drop } = await testDatabase('postgres')
  return { url, spread: async () => void (await sendTo(url, ...LISTED)), drop }
}

/** A DataSource on a new database, with its tables distributed. */
export async function opened(
  open: () => Promise<Spread>,
  entities: readonly EntityClass<object>[],
): Promise<{ readonly dataSource: DataSource; readonly close: () => Promise<void> }> {
  const server = await open()
  const { dataSource } = await withTables(server, entities)
  await server.spread(dataSource)
  return {
    dataSource,
    close: async () => {
      await dataSource.destroy()
      await server.drop()
    },
  }
}

/** A DataSource with tables that are not distributed yet. */
export async function withTables(
  server: Spread,
  entities: readonly EntityClass<object>[],
): Promise<{ readonly dataSource: DataSource }> {
  const dataSource = await new DataSource({
    ...{ type: 'postgres', url: server.url, entities: [...entities], poolSize: 8 },
  }).initialize()
  await applyBaseline(dataSource)
  await createTables(dataSource, entities, 'postgres')
  await withCredentials(dataSource)
  return { dataSource }
}

const postgres = databases.filter(({ name }) => name === 'postgres')

/** Describes a subject on PostgreSQL that lists the extension, and on a cluster if one can be had. */
export function describeDistributed(
  subject: string,
  define: (open: () => Promise<Spread>, isCluster: boolean) => void,
  how: { readonly isLate?: boolean } = {},
): void {
  const isLate = how.isLate === true
  describeOn(subject, postgres, () => {
    describe('if the list of extensions has citus', () => define(isLate ? listedLater : listed, false))
    if (clusterAddress !== '') describe('on Citus', () => define(() => databaseOnCluster(isLate), true))
    else leftOut(`${subject} on Citus`, 'ASHLAR_TEST_CITUS_URL names no cluster')
  })
}
