import { inexactAmong, type InexactColumns } from '../catalog/inexact-columns.js'
import { isExactCollation } from './exact-bytes.js'

const COLUMNS =
  'SELECT column_name, data_type, collation_name FROM information_schema.columns WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ?'
/**
 * Matches the types whose collation matters. CHAR, which drops trailing spaces, is checked with the column's
 * kind.
 */
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
            // With another character set, a string that contains a character it lacks would make the
            // statement fail.
            ...(/^utf8mb4_/.test(String(collation)) && { collation: String(collation) }),
            advice: 'use utf8mb4_nopad_bin (MariaDB) or utf8mb4_0900_bin (MySQL 8)',
          }
    },
  )
