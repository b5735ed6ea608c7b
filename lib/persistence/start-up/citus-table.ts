import { problem } from '../../errors.js'
import type { StartUpFindings } from '../contract/repository.js'
import { CREDENTIAL_TENANTS, UNROUTABLE_INDEXES } from '../dialects/citus/citus.js'
import { quoteTable } from '../dialects/quote-table.js'
import type { Database } from '../engines/executor/executor.js'
import { named } from '../engines/executor/named.js'
import { sqlText } from '../engines/sql-text.js'
import { type CheckedEntity, NOTHING } from './findings.js'

/**
 * Reports the requirements of Citus that the database does not meet for a resource with a tenant, and indexes
 * that Citus cannot distribute.
 */
export async function distributedTable(
  { model, table, dialect }: CheckedEntity,
  database: Database,
  signal: AbortSignal,
): Promise<StartUpFindings> {
  const { tenant, credentials, entity } = model
  if (tenant === undefined || database.isDistributed !== true) return NOTHING
  const options = { signal }
  const asked = [quoteTable(table, dialect), tenant.column]
  const { rows } = await database.run(named(UNROUTABLE_INDEXES), asked, options)
  const warnings = rows.map(
    ([index]) =>
      `${entity.name}: the unique index ${String(index)} lacks ${tenant.column}, so Citus cannot distribute its table: replace it by one that begins with ${tenant.column}`,
  )
  if (credentials.length === 0) return { problems: [], warnings }
  const { table: nameOf, statement } = sqlText(database)
  const name = nameOf(CREDENTIAL_TENANTS)
  const found = await database.run(statement('SELECT to_regclass(?)'), [name], options)
  if (typeof found.rows[0]?.[0] === 'string') return { problems: [], warnings }
  const missing = `the table ${name} is missing, which has the tenants of credentials on Citus: run CREATE TABLE ${name} (public_id text PRIMARY KEY, tenant text NOT NULL)`
  return { problems: [problem('dataSource', missing)], warnings }
}
