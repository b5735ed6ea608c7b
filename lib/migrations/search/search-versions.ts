import { FIRST_GENERATED } from '../files/search-migrations.js'
import type { AppliedVersion } from '../session/version-table.js'
import {
  addedColumns,
  alterTable,
  createIndex,
  createTable,
  dropped,
  droppedColumn,
} from '../sql/statement-shape.js'
import { type Script, type Statement, splitStatements } from '../sql/split-statements.js'
import type { Syntax } from '../sql/syntax.js'

const VECTOR = 'search_vector'

interface Named {
  readonly version: number
  /** The version's name, such as `9001_notes_search_vector`. */
  readonly name: string
}

interface Version extends Named {
  readonly script: Script
}

/** The statement that adds or replaces a table's stored vector in a generated version. */
interface VectorStatement {
  readonly table: string
  readonly text: string
  /** True if it drops an existing vector. */
  readonly replaces: boolean
}

/** The version that makes another one unnecessary. */
export type Needless = { readonly replacedBy: string } | { readonly tableDroppedBy: string }

/**
 * Returns why a generated search version whose columns no longer exist is not needed: a later version
 * replaces the vector, or an earlier one has dropped the table. Returns undefined if it must run.
 */
export function whyNotNeeded(version: Version, all: readonly Version[]): Needless | undefined {
  const table = searchTableOf(version)
  if (table === undefined) return undefined
  const later = all
    .filter((one) => one.version > version.version)
    .find((one) => vectorIn(one)?.table === table && vectorIn(one)?.replaces === true)
  if (later !== undefined) return { replacedBy: later.name }
  const dropping = droppedBy(
    table,
    all.filter((one) => one.version < FIRST_GENERATED),
  )
  return dropping === undefined ? undefined : { tableDroppedBy: dropping }
}

/** Returns true if the name of a version is one that `search generate` writes. */
export const isSearchVersion = (version: Named): boolean => isVector(version) || isSearchIndex(version)

/**
 * Returns true if a version creates the index of a stored vector. The preceding version creates the vector.
 */
export const isSearchIndex = ({ version, name }: Named): boolean =>
  version > FIRST_GENERATED && name.endsWith('_search_gin')

/**
 * Returns alternatives for the rollback of a stored vector if columns of the previous vector no longer exist:
 * the table's earlier vectors, latest first, and finally no vector.
 *
 * @param down - the statements of its down migration.
 * @param rows - the applied versions.
 */
export function otherDownMigrations(
  version: Named,
  down: readonly Statement[],
  rows: readonly AppliedVersion[],
  syntax: Syntax,
): readonly string[] {
  const [first, ...indexes] = down
  const vector = isVector(version) && first !== undefined ? vectorOf(first) : undefined
  const target = TARGET.exec(vector?.text ?? '')?.[1]
  if (vector === undefined || target === undefined) return []
  const drop = `ALTER TABLE IF EXISTS ${target} DROP COLUMN IF EXISTS "${VECTOR}"`
  const earlier = rows
    .filter((row) => row.version < version.version && isVector(row))
    .sort((a, b) => b.version - a.version)
    .flatMap(({ upSql = '' }) => splitStatements(upSql, syntax).statements.slice(0, 1))
    .filter((statement) => vectorOf(statement)?.table === vector.table)
  return [
    ...earlier.map((statement) => [drop, ...[statement, ...indexes].map(({ text }) => text)]),
    [drop],
  ].map((statements) => statements.map((text) => `${text};\n`).join(''))
}

/** Matches the table of an ALTER TABLE as written. */
const TARGET = /^ALTER TABLE ((?:"(?:[^"]|"")*"\.)?"(?:[^"]|"")*") /

const isVector = ({ version, name }: Named): boolean =>
  version >= FIRST_GENERATED && name.endsWith(`_${VECTOR}`)

function searchTableOf(version: Version): string | undefined {
  const [first] = version.script.statements
  return first !== undefined && isSearchIndex(version) ? createIndex(first)?.table : vectorIn(version)?.table
}

function vectorIn(version: Version): VectorStatement | undefined {
  const [first] = version.script.statements
  return first !== undefined && isVector(version) ? vectorOf(first) : undefined
}

function vectorOf(statement: Statement): VectorStatement | undefined {
  const { syntax, text } = statement
  const alter = alterTable(statement)
  if (alter === undefined) return undefined
  const replaces = alter.actions.some((action) => droppedColumn(action, syntax) === VECTOR)
  const adds = alter.actions.some((action) =>
    addedColumns(action, syntax).some(({ name }) => name === VECTOR),
  )
  return replaces || adds ? { table: alter.table, text, replaces } : undefined
}

/** Returns the version that drops the table, unless a later one creates it again. */
function droppedBy(table: string, versions: readonly Version[]): string | undefined {
  let dropping: string | undefined
  for (const { name, script } of versions)
    for (const statement of script.statements) {
      const drop = dropped(statement)
      if (drop?.what === 'TABLE' && drop.names.includes(table)) dropping = name
      if (createTable(statement)?.table === table) dropping = undefined
    }
  return dropping
}
