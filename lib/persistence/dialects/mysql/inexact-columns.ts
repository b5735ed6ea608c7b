import { inexactAmong, type InexactColumns } from '../catalog/inexact-columns.js'
import { isExactCollation } from './exact-bytes.js'

const COLUMNS =
  'SELECT column_name, data_type, collation_name FROM information_schema.columns WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ?'
/** A kind says whether it may be in a CHAR, which drops spaces from its end. */
const TEXT = /^(?:(?:var)?char|(?:tiny|medium|long)?text)$/

export const inexactColumns: InexactColumns = async (query, { schema, name }, columns) =>
  inexactAmong(
    await query(COLUMNS, [schema ?? null, name]),
    columns,
    (one) => one.toLowerCase(),
    ([, type, collation]) => {
      if (!TEXT.test(String(type)))
        return {
          what: `type ${String(type)}`,
          advice: 'use varchar, with the collation of the generated tables',
        }
      return isExactCollation(String(collation))
        ? undefined
        : {
            what: `collation ${String(collation)}`,
            // A text that another character set lacks would fail the statement.
            ...(/^utf8mb4_/.test(String(collation)) && { collation: String(collation) }),
            advice: 'use utf8mb4_nopad_bin (MariaDB) or utf8mb4_0900_bin (MySQL 8)',
          }
    },
  )
