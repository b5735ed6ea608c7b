import { DeclarationError } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Dialect } from '../dialects/dialect.js'
import type { Executor, Row, RunOptions } from '../engines/executor/executor.js'
import { named } from '../engines/executor/named-statement.js'
import { quoteIdentifier } from '../dialects/identifier.js'
import { quoteTable, type TableName } from './table-name.js'

/**
 * Makes sure, once, that the database compares the columns that tell rows apart exactly: where it takes `ACME` for `acme`, or
 * pads, tenant `ACME` would read the rows of `acme`.
 */
export class CollationCheck {
  /** Whether `run` still has to be awaited. */
  isPending = true

  constructor(
    private readonly model: ResourceModel,
    private readonly table: TableName,
  ) {}

  /**
   * @param on - the transaction of the call, where it has one: another connection may not be had meanwhile.
   * @throws DeclarationError with every column that is compared in another way. A table that is not there yet passes.
   */
  async run(on: Executor, options?: RunOptions): Promise<void> {
    const inexact = await INEXACT[on.dialect](on, this.table, columnsOf(this.model), options)
    if (inexact === undefined) return
    const problems = inexact.map(
      ([{ proto }, what, advice]) =>
        `${proto} has the ${what}, which takes different texts for the same: ${advice}`,
    )
    if (problems.length > 0) throw new DeclarationError(this.model.entity.name, problems)
    this.isPending = false
  }
}

/** Those by which a row is found for somebody. */
const columnsOf = ({ key, tenant, secrets, credentials }: ResourceModel): Field[] =>
  [key, tenant, ...secrets.map(({ hash }) => hash), ...credentials.map(({ publicId }) => publicId)].filter(
    (field) => field !== undefined,
  )

type Inexact = readonly [field: Field, what: string, advice: string]

/** The columns that are not compared exactly; undefined while there is no such table. */
type Find = (
  on: Executor,
  table: TableName,
  fields: readonly Field[],
  options: RunOptions | undefined,
) => Promise<Inexact[] | undefined>

/** A domain is as exact as the type it is made of; its collation is that of the column. */
const POSTGRES = named(
  'WITH RECURSIVE held AS (SELECT attname, atttypid AS type, attcollation FROM pg_catalog.pg_attribute ' +
    'WHERE attrelid = pg_catalog.to_regclass($1) AND attnum > 0 AND NOT attisdropped ' +
    "UNION ALL SELECT h.attname, t.typbasetype, h.attcollation FROM held h JOIN pg_catalog.pg_type t ON t.oid = h.type AND t.typtype = 'd') " +
    "SELECT h.attname, t.typname, t.oid IN ('pg_catalog.text'::regtype, 'pg_catalog.varchar'::regtype), c.collname, c.collisdeterministic " +
    'FROM held h JOIN pg_catalog.pg_type t ON t.oid = h.type LEFT JOIN pg_catalog.pg_collation c ON c.oid = h.attcollation ' +
    "WHERE t.typtype <> 'd'",
)

const inPostgres: Find = async (on, table, fields, options) => {
  const { rows } = await on.run(POSTGRES, [quoteTable(table, 'postgres')], options)
  return found(
    rows,
    fields,
    (name) => name,
    ([, type, isText, collation, isDeterministic]) => {
      if (isText !== 't') return [`type ${String(type)}`, 'use text or varchar, with COLLATE "C"']
      return isDeterministic === 'f' ? [`collation ${String(collation)}`, 'use COLLATE "C"'] : undefined
    },
  )
}

const MYSQL = named(
  'SELECT column_name, data_type, collation_name FROM information_schema.columns WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ?',
)
/** The types that keep a text as it is: CHAR drops spaces from its end. */
const MYSQL_TEXT = /^(?:varchar|(?:tiny|medium|long)?text)$/
/** All others, `_bin` among them, at least ignore spaces at the end. */
const MYSQL_EXACT = /(?:_nopad_bin|_0900_bin)$/

const inMysql: Find = async (on, table, fields, options) => {
  const { rows } = await on.run(MYSQL, [table.schema ?? null, table.name], options)
  return found(rows, fields, inLowerCase, ([, type, collation]) => {
    if (!MYSQL_TEXT.test(String(type)))
      return [`type ${String(type)}`, 'use varchar, with the collation of the generated tables']
    return MYSQL_EXACT.test(String(collation))
      ? undefined
      : [`collation ${String(collation)}`, 'use utf8mb4_nopad_bin (MariaDB) or utf8mb4_0900_bin (MySQL 8)']
  })
}

const SQLITE = named('SELECT name, type FROM pragma_table_info(?)')

/** SQLite tells of a type, which says whether `01` becomes 1, and of no collation: that is tried, without a row. */
const inSqlite: Find = async (on, table, fields, options) => {
  const { rows } = await on.run(SQLITE, [table.name], options)
  const types = new Map(rows.map(([name, type]) => [inLowerCase(String(name)), String(type)]))
  const present = fields.filter(({ column }) => types.has(inLowerCase(column)))
  if (present.length === 0) return rows.length === 0 ? undefined : []
  const tried = await on.run(sqliteTrial(table, present), [], options)
  return present.flatMap((field, i): Inexact[] => {
    const type = types.get(inLowerCase(field.column)) ?? ''
    if (!isSqliteText(type)) return [[field, `type ${type}`, 'use TEXT']]
    return Number(tried.rows[0]?.[i]) === 3
      ? []
      : [[field, 'collation NOCASE or RTRIM', 'use COLLATE BINARY']]
  })
}

/** The collation of the first part of a UNION says what is the same: https://www.sqlite.org/lang_select.html#collateseqcompound */
const sqliteTrial = (table: TableName, fields: readonly Field[]) => {
  const from = quoteTable(table, 'sqlite')
  const counts = fields.map(
    ({ column }, i) =>
      `(SELECT count(*) FROM (SELECT ${quoteIdentifier(column, 'sqlite')} FROM ${from} WHERE 0 UNION SELECT 'a' UNION SELECT 'A' UNION SELECT 'a ')) AS c${i}`,
  )
  return named(`SELECT ${counts.join(', ')}`)
}

/** Text affinity, or none: https://www.sqlite.org/datatype3.html#determination_of_column_affinity */
const isSqliteText = (type: string): boolean =>
  !/INT/i.test(type) && (type === '' || /CHAR|CLOB|TEXT|BLOB/i.test(type))

const inLowerCase = (name: string): string => name.toLowerCase()

/** What is wrong with each column, by a catalog's rows that begin with the name. */
function found(
  rows: readonly Row[],
  fields: readonly Field[],
  spelled: (name: string) => string,
  problem: (row: Row) => readonly [what: string, advice: string] | undefined,
): Inexact[] | undefined {
  if (rows.length === 0) return undefined
  const byName = new Map(rows.map((row) => [spelled(String(row[0])), row]))
  return fields.flatMap((field): Inexact[] => {
    const row = byName.get(spelled(field.column))
    const wrong = row && problem(row)
    return wrong === undefined ? [] : [[field, ...wrong]]
  })
}

const INEXACT: Readonly<Record<Dialect, Find>> = {
  postgres: inPostgres,
  mysql: inMysql,
  mariadb: inMysql,
  sqlite: inSqlite,
}
