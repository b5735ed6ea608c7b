/** The first number of generated migrations, so that they never collide with hand-written ones. */
export const FIRST_GENERATED = 9001

/**
 * Matches the name of a generated file. `ashlar search generate` writes and removes these files. Do not edit
 * them.
 */
export const GENERATED_FILE = /^9\d{3}_.+_search_(?:vector|gin)\.(?:up|down)\.sql$/

/** A table with INDEXED search, and its search vector's expression. */
export interface SearchTable {
  readonly table: string
  /** The table's schema. Undefined for the schema in which the files run. */
  readonly schema?: string | undefined
  readonly vector: string
}

/**
 * The SQL of migration files, by file name.
 * @internal
 */
export type MigrationFiles = Readonly<Record<string, string>>

/**
 * Returns the migrations for INDEXED search (PostgreSQL). Each table gets a pair of files that adds the
 * stored vector and its GIN index. If a table's vector is already in `committed`, its pair is kept. A new
 * table or a changed vector gets the next free pair, so that applied files are never edited. The output is
 * deterministic.
 *
 * @internal
 * @param committed - the current files of the migrations folder.
 */
export function searchMigrations(tables: readonly SearchTable[], committed: MigrationFiles): MigrationFiles {
  const files: Record<string, string> = {}
  let next = nextSearchVersion(Object.keys(committed))
  for (const table of [...tables].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))) {
    const isOnly = tables.every(
      (other) => other === table || inFileName(other.table) !== inFileName(table.table),
    )
    const before = latestVector(table, committed, isOnly)
    if (before?.vector === table.vector) Object.assign(files, pairAt(before.version, committed))
    else {
      Object.assign(files, newPair(next, table, before?.vector))
      next += 2
    }
  }
  return files
}

const keyOf = ({ table, schema = '' }: SearchTable): string => `${table}\0${schema}`

const nameOf = ({ table, schema }: SearchTable): string =>
  schema === undefined ? quoted(table) : `${quoted(schema)}.${quoted(table)}`

function newPair(version: number, table: SearchTable, before: string | undefined): MigrationFiles {
  const name = nameOf(table)
  const column = quoted('search_vector')
  const index = quoted(`${table.table}_search_vector_gin`)
  const there = table.schema === undefined ? index : `${quoted(table.schema)}.${index}`
  const add = (expression: string) =>
    `ADD COLUMN ${column} tsvector GENERATED ALWAYS AS (${expression}) STORED`
  const drop = `DROP COLUMN IF EXISTS ${column}`
  const vectorFile = `${String(version)}_${inFileName(table.table)}_search_vector`
  const indexFile = `${String(version + 1)}_${inFileName(table.table)}_search_gin`
  return {
    [`${vectorFile}.up.sql`]: `${ALLOWED}ALTER TABLE ${name} ${before === undefined ? '' : `${drop}, `}${add(table.vector)};\n`,
    [`${vectorFile}.down.sql`]:
      before === undefined
        ? `ALTER TABLE ${name} ${drop};\n`
        : `ALTER TABLE ${name} ${drop}, ${add(before)};\nCREATE INDEX ${index} ON ${name} USING gin (${column});\n`,
    [`${indexFile}.up.sql`]: `CREATE INDEX CONCURRENTLY ${index} ON ${name} USING gin (${column});\n`,
    [`${indexFile}.down.sql`]: `DROP INDEX CONCURRENTLY IF EXISTS ${there};\n`,
  }
}

const ALLOWED =
  '-- ashlar:allow adding-search-vector\n' +
  '-- the table is written anew under a lock: on a large one in a quiet hour, with a longer statement timeout\n'

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Replaces characters that file names must not contain. */
const inFileName = (table: string): string => table.replaceAll(/[^A-Za-z0-9_-]/g, '_')

const VECTOR_FILE = /^(\d{4})_(.+)_search_vector\.up\.sql$/
const VECTOR = /GENERATED ALWAYS AS \(([^]*)\) STORED;\n$/

/** Returns a table's vector after the committed files are applied. */
function latestVector(
  table: SearchTable,
  committed: MigrationFiles,
  isOnly: boolean,
): { version: number; vector: string | undefined } | undefined {
  const [latest] = Object.entries(committed)
    .map(([name, sql]) => ({ file: VECTOR_FILE.exec(name), sql }))
    .filter(({ file, sql }) => file?.[2] === inFileName(table.table) && isAbout(sql, table, isOnly))
    .map(({ file, sql }) => ({ version: Number(file?.[1]), vector: VECTOR.exec(sql)?.[1] }))
    .sort((a, b) => b.version - a.version)
  return latest
}

/**
 * Returns true if a file with the table's name belongs to this table, and not to a table of the same name in
 * another schema.
 *
 * @param isOnly - true if no other table has such files. A file without a schema, or one that was edited,
 *   then belongs to this table.
 */
function isAbout(sql: string, table: SearchTable, isOnly: boolean): boolean {
  if (sql.includes(`ALTER TABLE ${nameOf(table)} `)) return true
  const isElsewhere = table.schema !== undefined && QUALIFIED.test(sql)
  return isOnly && !isElsewhere
}

const QUALIFIED = /ALTER TABLE "(?:[^"]|"")*"\."/

const pairAt = (version: number, committed: MigrationFiles): MigrationFiles =>
  Object.fromEntries(
    Object.entries(committed).filter(([name]) => [version, version + 1].includes(Number(name.slice(0, 4)))),
  )

/**
 * Returns the next number for generated files. Numbers have no gaps.
 *
 * @param names - the names of existing files.
 */
export function nextSearchVersion(names: readonly string[]): number {
  const used = names
    .map((name) => Number(/^(\d{4})_/.exec(name)?.[1]))
    .filter((version) => version >= FIRST_GENERATED)
  return Math.max(FIRST_GENERATED - 1, ...used) + 1
}
