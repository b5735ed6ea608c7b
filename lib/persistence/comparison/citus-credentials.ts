import type { ResourceModel } from '../../resource/resource-model.js'
import { LISTS_CITUS } from '../dialects/citus/citus.js'
import type { LiveSchema, LiveTable } from '../dialects/catalog/live-table.js'
import type { TableDefinition } from '../dialects/catalog/table-definition.js'
import type { ComparedDialect } from './expected-table.js'

/**
 * Returns the definition that Citus allows for a table. If the unique indexes of public ids begin with the
 * tenant in the database, they do so in the definition, too, because Citus accepts no other unique indexes.
 */
export async function asDistributed(
  model: ResourceModel,
  wanted: TableDefinition,
  there: LiveTable | undefined,
  live: LiveSchema,
  { can }: ComparedDialect,
): Promise<TableDefinition> {
  const { tenant, credentials } = model
  if (!can.distribution || tenant === undefined || there === undefined || credentials.length === 0)
    return wanted
  const replaced = wanted.indexes.map((index) => {
    const columns = [tenant.column, ...index.columns]
    const isPublicId = credentials.some(({ publicId }) => index.columns.join() === publicId.column)
    const isThere = there.indexes.some((one) => one.unique && one.columns.join() === columns.join())
    return index.unique && isPublicId && isThere ? { ...index, columns } : index
  })
  if (replaced.every((index, at) => index === wanted.indexes[at])) return wanted
  const [row] = await live.rows(`SELECT ${LISTS_CITUS} AS citus`, [])
  return row?.citus === true ? { ...wanted, indexes: replaced } : wanted
}
