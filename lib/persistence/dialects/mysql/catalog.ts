import {
  type Catalog,
  type CatalogRow,
  foreignKeyShape,
  type LiveColumn,
  type LiveSchema,
  type LiveTable,
  shapeOf,
} from '../catalog/live-table.js'
import type { TableName } from '../catalog/table-definition.js'

/** In what the catalogs of MySQL 8 and MariaDB differ. */
export interface MysqlCatalogOptions {
  /** JSON is text with a check of its own. */
  readonly jsonIsText: boolean
  readonly exactCollations: readonly string[]
}

export const mysqlCatalog = ({ jsonIsText, exactCollations }: MysqlCatalogOptions): Catalog => ({
  readTable: (live, table) => readTable(live, table, jsonIsText),
  typeText: (type) => type,
  exactCollations,
  change: (_what, _column, whole) => `MODIFY ${whole}`,
  indexOption: '',
  addedForeignKey: { option: '', then: '' },
})

/** Whether the server of the MySQL protocol is MariaDB. */
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
            COLUMN_DEFAULT AS fallback, GENERATION_EXPRESSION AS made
     FROM information_schema.COLUMNS WHERE ${OF_TABLE} ORDER BY ORDINAL_POSITION`,
    place,
  )
  // Their columns for indexes that no plan uses have different names.
  const parts = await live.rows(
    `SELECT * FROM information_schema.STATISTICS WHERE ${OF_TABLE} ORDER BY INDEX_NAME, SEQ_IN_INDEX`,
    place,
  )
  const json = jsonIsText ? await jsonColumns(live, place) : new Set<string>()
  const indexes = grouped(parts, 'INDEX_NAME')
  const links = await live.rows(FOREIGN_KEYS, place)
  return {
    columns: columns.map((row) => columnOf(row, json)),
    primaryKey: (indexes.get(PRIMARY) ?? []).map(keyOf),
    indexes: [...indexes].filter(([name]) => name !== PRIMARY).map(([name, keys]) => indexOf(name, keys)),
    foreignKeys: [...grouped(links, 'name')].map(([name, rows]) => foreignKeyOf(name, rows)),
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

/** InnoDB takes the two for the same. */
const NO_ACTION: readonly unknown[] = ['NO ACTION', 'RESTRICT']

function foreignKeyOf(name: string, rows: readonly CatalogRow[]) {
  const [first = {}] = rows
  const columns = rows.map(({ part }) => String(part))
  const action = (rule: unknown) => (NO_ACTION.includes(rule) ? undefined : String(rule))
  const target = String(first.target)
  return {
    name,
    columns,
    shape: foreignKeyShape({
      columns,
      target: first.target_schema === first.here ? target : `${String(first.target_schema)}.${target}`,
      targetColumns: rows.map(({ target_part: part }) => String(part)),
      onDelete: action(first.on_delete),
      onUpdate: action(first.on_update),
    }),
  }
}

const PRIMARY = 'PRIMARY'

/** MariaDB's JSON is text with a check of its own. */
async function jsonColumns(live: LiveSchema, place: readonly unknown[]): Promise<ReadonlySet<string>> {
  const checks = await live.rows(
    `SELECT CONSTRAINT_NAME AS name, CHECK_CLAUSE AS clause FROM information_schema.CHECK_CONSTRAINTS
     WHERE CONSTRAINT_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ?`,
    place,
  )
  return new Set(
    checks
      .filter(({ name, clause }) => clause === `json_valid(\`${String(name)}\`)`)
      .map(({ name }) => String(name)),
  )
}

function columnOf(row: CatalogRow, json: ReadonlySet<string>): LiveColumn {
  const name = String(row.name)
  const isJson = row.type === 'longtext' && json.has(name)
  return {
    name,
    type: isJson ? 'json' : withoutWidth(String(row.type)),
    collation: isJson || typeof row.collated !== 'string' ? undefined : row.collated,
    nullable: row.nullable === 'YES',
    // MariaDB writes the literal, MySQL its value.
    fallback: typeof row.fallback !== 'string' ? undefined : row.fallback === '' ? `''` : row.fallback,
    isComputed: typeof row.made === 'string' && row.made !== '',
  }
}

/** MariaDB and older versions of MySQL say how wide an integer is shown, which decides nothing. */
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

function indexOf(name: string, keys: readonly CatalogRow[]) {
  const unique = Number(keys[0]?.NON_UNIQUE) === 0
  const method = String(keys[0]?.INDEX_TYPE)
  const isIgnored = keys[0]?.IGNORED === 'YES' || keys[0]?.IS_VISIBLE === 'NO'
  return {
    name,
    unique,
    shape: shapeOf({
      unique,
      columns: keys.map(keyOf),
      method: method === 'BTREE' ? undefined : method,
      extras: isIgnored ? ['IGNORED'] : [],
    }),
  }
}

function keyOf({ COLUMN_NAME, EXPRESSION, SUB_PART, COLLATION }: CatalogRow): string {
  const name = typeof COLUMN_NAME === 'string' ? COLUMN_NAME : `(${String(EXPRESSION)})`
  const part = SUB_PART === null || SUB_PART === undefined ? '' : `(${Number(SUB_PART)})`
  return `${name}${part}${COLLATION === 'D' ? ' DESC' : ''}`
}

function faultsOf({ kind, engine }: CatalogRow): readonly string[] {
  if (kind !== 'BASE TABLE') return ['is no table: drop or rename what has its name']
  return engine === 'InnoDB'
    ? []
    : [`has the engine ${String(engine)}, which has no transactions: ENGINE=InnoDB`]
}
