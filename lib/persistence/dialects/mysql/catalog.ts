import {
  type Catalog,
  type CatalogRow,
  type LiveColumn,
  type LiveForeignKey,
  type LiveIndex,
  type LiveSchema,
  type LiveTable,
} from '../catalog/live-table.js'
import type { TableName } from '../catalog/table-definition.js'
import { mysqlChanges } from './changes.js'
import { quoted } from '../values/quoted.js'
import { isConstant, mysqlConstant, mysqlDefault, seemsSameDefault } from './default-text.js'

/** The differences between the catalogs of MySQL 8 and MariaDB. */
export interface MysqlCatalogOptions {
  /** True if JSON columns are text columns with a CHECK constraint. */
  readonly jsonIsText: boolean
  readonly exactCollations: readonly string[]
}

export const mysqlCatalog = ({ jsonIsText, exactCollations }: MysqlCatalogOptions): Catalog => ({
  readTable: (live, table) => readTable(live, table, jsonIsText),
  exactCollations,
  defaultText: (text, type) => mysqlDefault(text, type) ?? '',
  hasDefault: ({ type, fallback = '', isFallbackCut }, wanted) =>
    fallback === wanted || (isFallbackCut === true && seemsSameDefault(fallback, wanted, type)),
  changes: mysqlChanges,
})

/** True if the server is MariaDB rather than MySQL. */
export async function isMariadbServer(live: LiveSchema): Promise<boolean> {
  const [row] = await live.rows('SELECT VERSION() AS version')
  return /mariadb/i.test(String(row?.version))
}

async function readTable(
  live: LiveSchema,
  table: TableName,
  jsonIsText: boolean,
): Promise<LiveTable | undefined> {
  const place = [table.schema ?? null, table.name]
  const [found] = await live.rows(
    `SELECT TABLE_TYPE AS kind, ENGINE AS engine FROM information_schema.TABLES WHERE ${OF_TABLE}`,
    place,
  )
  if (found === undefined) return undefined
  const columns = await live.rows(
    `SELECT COLUMN_NAME AS name, COLUMN_TYPE AS type, IS_NULLABLE AS nullable, COLLATION_NAME AS collated,
            COLUMN_DEFAULT AS fallback, GENERATION_EXPRESSION AS made, EXTRA AS extra,
            COLUMN_COMMENT AS comment
     FROM information_schema.COLUMNS WHERE ${OF_TABLE} ORDER BY ORDINAL_POSITION`,
    place,
  )
  // The two servers name the column about ignored or invisible indexes differently.
  const parts = await live.rows(
    `SELECT * FROM information_schema.STATISTICS WHERE ${OF_TABLE} ORDER BY INDEX_NAME, SEQ_IN_INDEX`,
    place,
  )
  const { json, checks, own } = await checksOf(live, place, jsonIsText)
  const exact = await exactDefaults(live, table, columns, jsonIsText)
  const indexes = grouped(parts, 'INDEX_NAME')
  const links = await live.rows(FOREIGN_KEYS, place)
  return {
    columns: columns.map((row) => ({
      ...columnOf(row, json, jsonIsText, exact.get(String(row.name))),
      ...restOf(row, own.get(String(row.name))),
    })),
    primaryKey: (indexes.get(PRIMARY) ?? []).map(keyOf),
    indexes: [...indexes].filter(([name]) => name !== PRIMARY).map(([name, keys]) => indexOf(name, keys)),
    foreignKeys: [...grouped(links, 'name')].map(([name, rows]) => foreignKeyOf(name, rows)),
    checks,
    triggers: (await live.rows(TRIGGERS, place)).map(({ name }) => String(name)),
    faults: faultsOf(found),
  }
}

const OF_TABLE = 'TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ?'
const FOREIGN_KEYS = `
  SELECT k.CONSTRAINT_NAME AS name, k.COLUMN_NAME AS part, k.REFERENCED_COLUMN_NAME AS target_part,
         k.REFERENCED_TABLE_SCHEMA AS target_schema, k.REFERENCED_TABLE_NAME AS target,
         r.DELETE_RULE AS on_delete, r.UPDATE_RULE AS on_update, DATABASE() AS here
  FROM information_schema.KEY_COLUMN_USAGE k
  JOIN information_schema.REFERENTIAL_CONSTRAINTS r
    ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME
  WHERE k.TABLE_SCHEMA = COALESCE(?, DATABASE()) AND k.TABLE_NAME = ? AND k.REFERENCED_TABLE_NAME IS NOT NULL
  ORDER BY k.CONSTRAINT_NAME, k.ORDINAL_POSITION`

const TRIGGERS = `SELECT TRIGGER_NAME AS name FROM information_schema.TRIGGERS
  WHERE EVENT_OBJECT_SCHEMA = COALESCE(?, DATABASE()) AND EVENT_OBJECT_TABLE = ? ORDER BY 1`

/** InnoDB treats the two actions alike. */
const NO_ACTION: readonly unknown[] = ['NO ACTION', 'RESTRICT']

function foreignKeyOf(name: string, rows: readonly CatalogRow[]): LiveForeignKey {
  const [first = {}] = rows
  const columns = rows.map(({ part }) => String(part))
  const action = (rule: unknown) => (NO_ACTION.includes(rule) ? undefined : String(rule))
  const target = String(first.target)
  return {
    name,
    columns,
    target: first.target_schema === first.here ? target : `${String(first.target_schema)}.${target}`,
    targetColumns: rows.map(({ target_part: part }) => String(part)),
    onDelete: action(first.on_delete),
    onUpdate: action(first.on_update),
  }
}

const PRIMARY = 'PRIMARY'

interface Checks {
  /** The text columns that have MariaDB's JSON check. */
  readonly json: ReadonlySet<string>
  readonly checks: LiveTable['checks']
  /** MariaDB's column-level checks, by column. */
  readonly own: ReadonlyMap<string, string>
}

async function checksOf(live: LiveSchema, place: readonly unknown[], jsonIsText: boolean): Promise<Checks> {
  const rows = await live.rows(jsonIsText ? MARIADB_CHECKS : MYSQL_CHECKS, place)
  const isJson = ({ name, clause }: CatalogRow) => jsonIsText && clause === `json_valid(\`${String(name)}\`)`
  const ofColumn = rows.filter((row) => row.level === 'Column' && !isJson(row))
  return {
    own: new Map(ofColumn.map(({ name, clause }) => [String(name), String(clause)])),
    json: new Set(rows.filter(isJson).map(({ name }) => String(name))),
    checks: rows
      .filter((row) => !isJson(row))
      .map(({ name, clause, level }) => ({
        name: String(name),
        isValid: true,
        // MariaDB drops a column's own check with the column.
        columns: level === 'Column' ? [] : quotedNames(String(clause)),
        definition: `CHECK (${jsonIsText ? String(clause) : String(clause).replaceAll("\\'", "'")})`,
      })),
  }
}

const quotedNames = (sql: string): readonly string[] =>
  [...sql.matchAll(/`((?:[^`]|``)+)`/g)].map(([, name = '']) => name.replaceAll('``', '`'))

const MARIADB_CHECKS = `
  SELECT CONSTRAINT_NAME AS name, CHECK_CLAUSE AS clause, LEVEL AS level FROM information_schema.CHECK_CONSTRAINTS
  WHERE CONSTRAINT_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ?`

/** MariaDB's CHECK_CONSTRAINTS also contains the table's name; MySQL's does not. */
const MYSQL_CHECKS = `
  SELECT t.CONSTRAINT_NAME AS name, c.CHECK_CLAUSE AS clause FROM information_schema.TABLE_CONSTRAINTS t
  JOIN information_schema.CHECK_CONSTRAINTS c
    ON c.CONSTRAINT_SCHEMA = t.CONSTRAINT_SCHEMA AND c.CONSTRAINT_NAME = t.CONSTRAINT_NAME
  WHERE t.CONSTRAINT_TYPE = 'CHECK' AND t.TABLE_SCHEMA = COALESCE(?, DATABASE()) AND t.TABLE_NAME = ?`

function columnOf(
  row: CatalogRow,
  json: ReadonlySet<string>,
  isMariadb: boolean,
  exact: string | undefined,
): LiveColumn {
  const name = String(row.name)
  const isJson = row.type === 'longtext' && json.has(name)
  const type = isJson ? 'json' : withoutWidth(String(row.type))
  return {
    name,
    type,
    collation: isJson || typeof row.collated !== 'string' ? undefined : row.collated,
    nullable: row.nullable === 'YES',
    fallback: exact === undefined ? fallbackOf(row, type, isMariadb) : mysqlConstant(exact, type),
    isFallbackCut: exact === undefined && isCut(row),
    generated: typeof row.made === 'string' && row.made !== '' ? row.made : undefined,
    isIdentity: /\bauto_increment\b/i.test(String(row.extra)),
  }
}

/**
 * Returns the properties that a MODIFY drops unless it repeats them, apart from type, nullability and
 * default.
 */
function restOf({ made, extra, comment }: CatalogRow, check: string | undefined): Pick<LiveColumn, 'rest'> {
  const said = String(extra)
  const [onUpdate] = /\bon update current_timestamp(?:\(\d*\))?/i.exec(said) ?? []
  const rest = [
    typeof made === 'string' && made !== ''
      ? ` GENERATED ALWAYS AS (${made}) ${/\b(?:stored|persistent)\b/i.test(said) ? 'STORED' : 'VIRTUAL'}`
      : '',
    onUpdate === undefined ? '' : ` ${onUpdate.toUpperCase()}`,
    /\binvisible\b/i.test(said) ? ' INVISIBLE' : '',
    typeof comment !== 'string' || comment === '' ? '' : ` COMMENT ${stringText(comment)}`,
    // MariaDB requires the check last.
    check === undefined ? '' : ` CHECK (${check})`,
  ].join('')
  return rest === '' ? {} : { rest }
}

const stringText = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

/**
 * Reads the exact defaults of columns for which the catalog may show less, such as a question mark for a
 * character beyond U+FFFF. An empty table does not reveal the default of a NOT NULL column.
 */
async function exactDefaults(
  live: LiveSchema,
  { schema, name }: TableName,
  columns: readonly CatalogRow[],
  isMariadb: boolean,
): Promise<ReadonlyMap<string, string>> {
  const asked = columns.filter(
    (row) =>
      row.type !== 'float' &&
      isCut(row) &&
      (isMariadb ? isConstant(String(row.fallback)) : !/DEFAULT_GENERATED/i.test(String(row.extra))),
  )
  if (asked.length === 0) return new Map()
  const values = asked.map(({ name }, at) => `DEFAULT(t.${quoted(String(name), '`')}) AS v${at}`)
  const place = [...(schema === undefined ? [] : [schema]), name].map((part) => quoted(part, '`')).join('.')
  // If the user may not read the table, only the catalog is used.
  const [row] = await live
    .rows(`SELECT ${values.join(', ')} FROM (SELECT 1 AS one) o LEFT JOIN ${place} t ON TRUE LIMIT 1`)
    .catch(() => [])
  return new Map(
    asked.flatMap(({ name }, at) => {
      const value = row?.[`v${at}`]
      return typeof value === 'string' ? [[String(name), value] as const] : []
    }),
  )
}

/**
 * True if the catalog may not show the whole default. It shows six digits of a float, and an ALTER TABLE of
 * another column then reduces the default to these.
 */
const isCut = ({ type, collated, fallback }: CatalogRow): boolean =>
  typeof fallback === 'string' &&
  (type === 'float' || (typeof collated === 'string' && fallback.includes('?')))

/**
 * Returns the default. Unless it is an expression, MariaDB's catalog contains a literal and MySQL's the bare
 * value.
 */
function fallbackOf({ fallback, extra }: CatalogRow, type: string, isMariadb: boolean): string | undefined {
  if (typeof fallback !== 'string') return undefined
  const isValue = !isMariadb && !/DEFAULT_GENERATED/i.test(String(extra))
  return isValue ? mysqlConstant(fallback, type) : mysqlDefault(fallback, type)
}

/**
 * Removes an integer's display width, which MariaDB and older versions of MySQL report and which has no
 * effect.
 */
const withoutWidth = (type: string): string =>
  type.replace(/^((?:small|medium|big)?int)\(\d+\)/, '$1').replace(/^tinyint\((?!1\))\d+\)/, 'tinyint')

function grouped(parts: readonly CatalogRow[], by: string): ReadonlyMap<string, readonly CatalogRow[]> {
  const groups = new Map<string, CatalogRow[]>()
  for (const part of parts) {
    const name = String(part[by])
    groups.set(name, [...(groups.get(name) ?? []), part])
  }
  return groups
}

function indexOf(name: string, keys: readonly CatalogRow[]): LiveIndex {
  const unique = Number(keys[0]?.NON_UNIQUE) === 0
  const method = String(keys[0]?.INDEX_TYPE)
  const isIgnored = keys[0]?.IGNORED === 'YES' || keys[0]?.IS_VISIBLE === 'NO'
  return {
    name,
    unique,
    isConstraint: false,
    columns: keys.map(keyOf),
    method: method === 'BTREE' ? undefined : method,
    extras: isIgnored ? ['IGNORED'] : [],
  }
}

function keyOf({ COLUMN_NAME, EXPRESSION, SUB_PART, COLLATION }: CatalogRow): string {
  const name = typeof COLUMN_NAME === 'string' ? COLUMN_NAME : `(${String(EXPRESSION)})`
  const part = SUB_PART === null || SUB_PART === undefined ? '' : `(${Number(SUB_PART)})`
  return `${name}${part}${COLLATION === 'D' ? ' DESC' : ''}`
}

function faultsOf({ kind, engine }: CatalogRow): readonly string[] {
  if (kind !== 'BASE TABLE') return ['is not a table: drop or rename what has its name']
  return engine === 'InnoDB'
    ? []
    : [`has the engine ${String(engine)}, which has no transactions: ENGINE=InnoDB`]
}
