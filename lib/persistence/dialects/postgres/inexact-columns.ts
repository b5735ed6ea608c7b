import { inexactAmong, type InexactColumns } from '../catalog/inexact-columns.js'
import { quoted } from '../values/quoted.js'

/** Reads a domain as its base type. The collation is the column's own. */
const COLUMNS =
  'WITH RECURSIVE held AS (SELECT attname, atttypid AS type, attcollation FROM pg_catalog.pg_attribute ' +
  'WHERE attrelid = pg_catalog.to_regclass($1) AND attnum > 0 AND NOT attisdropped ' +
  "UNION ALL SELECT h.attname, t.typbasetype, h.attcollation FROM held h JOIN pg_catalog.pg_type t ON t.oid = h.type AND t.typtype = 'd') " +
  "SELECT h.attname, t.typname, t.oid IN ('pg_catalog.text'::regtype, 'pg_catalog.varchar'::regtype), c.collname, c.collisdeterministic " +
  'FROM held h JOIN pg_catalog.pg_type t ON t.oid = h.type LEFT JOIN pg_catalog.pg_collation c ON c.oid = h.attcollation ' +
  "WHERE t.typtype <> 'd'"

export const inexactColumns: InexactColumns = async (query, { schema, name }, columns) => {
  const table = [...(schema === undefined ? [] : [schema]), name].map((one) => quoted(one, '"')).join('.')
  return inexactAmong(
    await query(COLUMNS, [table]),
    columns,
    (one) => one,
    ([, type, isText, collation, isDeterministic]) => {
      if (isText !== 't')
        return { what: `type ${String(type)}`, advice: 'use text or varchar, with COLLATE "C"' }
      return isDeterministic === 'f'
        ? { what: `collation ${String(collation)}`, collation: String(collation), advice: 'use COLLATE "C"' }
        : undefined
    },
  )
}
