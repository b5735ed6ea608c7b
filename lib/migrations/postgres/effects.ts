import { VERSION_TABLE } from '../files/framework-tables.js'
import {
  type Effect,
  type EngineEffects,
  isEmpty,
  NO_EFFECT,
  tableAfter,
  UNKNOWN,
  writtenTable,
} from '../session/effect.js'
import { Cursor, hasWords, isWord } from '../sql/cursor.js'
import {
  addedColumns,
  addedConstraint,
  alteredColumn,
  alterTable,
  createIndex,
  createTable,
  dropped,
} from '../sql/statement-shape.js'
import type { Statement } from '../sql/split-statements.js'
import type { Token } from '../sql/tokenize.js'
import { ColumnTypes } from './column-types.js'
import { nonTransactionalOf } from './sql/non-transactional.js'
import { postgresSyntax } from './sql/syntax.js'

/** The table locks of statements in migrations, weakest first, with the statements that wait for them. */
const BLOCKED = {
  'ROW EXCLUSIVE': 'the same rows',
  'SHARE UPDATE EXCLUSIVE': 'nothing',
  SHARE: 'writes',
  'SHARE ROW EXCLUSIVE': 'writes',
  'ACCESS EXCLUSIVE': 'reads and writes',
} as const satisfies Readonly<Record<string, Effect['blocks']>>
type Lock = keyof typeof BLOCKED

const LOCKS = Object.keys(BLOCKED) as readonly Lock[]
const ROWS: readonly Effect['rows'][] = ['untouched', 'read', 'written', 'rewritten']

/** The effect of an action: its lock, what it does to the rows, and a second locked table, if any. */
interface Action {
  readonly lock: Lock
  readonly rows: Effect['rows']
  readonly target?: string | undefined
}

/** Objects that CREATE, ALTER, DROP and COMMENT can change without locking a table. */
const NO_TABLES =
  /^(FUNCTION|PROCEDURE|SCHEMA|EXTENSION|TYPE|DOMAIN|SEQUENCE|ROLE|AGGREGATE|COLLATION|OPERATOR)$/

export const postgresEffects: EngineEffects = {
  effectOf: (statement, before) => {
    const found = effectOf(statement, before)
    const isConcurrent =
      hasWords(statement.tokens, 'CONCURRENTLY') && nonTransactionalOf(statement) !== undefined
    return isConcurrent ? { ...found, waitsForOlder: true } : found
  },
  lockWaits: 'whileItRuns',
  locks: async (session) => {
    const rows = await session.rows(
      `SELECT DISTINCT mode, relation::regclass::text AS name FROM pg_locks JOIN pg_class AS c ON c.oid = relation
       WHERE pid = pg_backend_pid() AND locktype = 'relation' AND relkind IN ('r', 'p') AND mode <> 'AccessShareLock'
         AND relname <> ? AND relnamespace <> 'pg_catalog'::regnamespace ORDER BY name, mode`,
      [VERSION_TABLE],
    )
    return rows.map(({ mode, name }) => ({ lock: spoken(String(mode)), table: String(name) }))
  },
  storage: `SELECT relname AS name, relfilenode::text AS storage FROM pg_class
    WHERE relkind = 'r' AND relnamespace = to_regnamespace(quote_ident(?))`,
  sizeOf: async (session, path) => {
    const name = path.length > 1 ? path.map(quoted).join('.') : `${session.prefix}${quoted(path[0])}`
    const [row] = await session.rows(
      // pg_total_relation_size waits for a session that changes the table. The number of pages in the catalog
      // does not require this.
      `SELECT sum(greatest(reltuples, 0)) AS rows,
         sum(CASE WHEN is_locked THEN relpages * current_setting('block_size')::bigint ELSE pg_total_relation_size(oid) END) AS bytes,
         bool_and(relkind IN ('r', 'p') AND NOT relrowsecurity AND NOT is_locked) AS is_readable
       FROM pg_class CROSS JOIN LATERAL (SELECT EXISTS (
         SELECT FROM pg_locks AS held WHERE held.relation = pg_class.oid AND held.mode = 'AccessExclusiveLock') AS is_locked) AS locks
       WHERE oid = to_regclass(?) OR oid IN (SELECT relid FROM pg_partition_tree(to_regclass(?)) WHERE isleaf)`,
      [name, name],
    )
    if (row === undefined || row.bytes === null) return undefined
    const mayBeEmpty = Number(row.rows) === 0 && row.is_readable === true
    const rows = mayBeEmpty && (await isEmpty(session, name)) ? 0 : Number(row.rows) || undefined
    return { rows, bytes: Number(row.bytes) }
  },
}

function effectOf(statement: Statement, before: readonly Statement[]): Effect {
  const { tokens } = statement
  const alter = alterTable(statement)
  if (alter !== undefined) {
    const { table, actions } = alter
    return effect(
      table,
      actions.map((action) => actionOf(action, { table, before })),
    )
  }
  const written = writtenTable(statement)
  if (written !== undefined) return effect(written, [{ lock: 'ROW EXCLUSIVE', rows: 'written' }])
  const created = createTable(statement)
  if (created !== undefined) return made(created.columns.map(({ definition }) => definition).flat())
  return onIndex(statement) ?? onTable(statement) ?? (isHarmless(tokens) ? NO_EFFECT : UNKNOWN)
}

/** Converts the catalog's name of a lock, such as `AccessExclusiveLock`, to the name in statements. */
const spoken = (mode: string): string =>
  mode
    .replace(/Lock$/, '')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toUpperCase()

const quoted = (name: unknown): string => `"${String(name).replaceAll('"', '""')}"`

/** Returns the strongest lock and the strongest effect on rows of several actions. */
function effect(table: string, actions: readonly Action[]): Effect {
  const lock = LOCKS[Math.max(...actions.map((action) => LOCKS.indexOf(action.lock)))] ?? 'ACCESS EXCLUSIVE'
  const targets = actions.flatMap(({ target }) => target ?? [])
  return {
    tables: [...new Set([table, ...targets])],
    lock,
    blocks: BLOCKED[lock],
    rows: ROWS[Math.max(0, ...actions.map(({ rows }) => ROWS.indexOf(rows)))] ?? 'untouched',
  }
}

/** Returns the effect of creating a table, which locks the tables that it refers to. */
function made(tokens: readonly Token[]): Effect {
  const target = tableAfter('REFERENCES', tokens)
  return target === undefined
    ? NO_EFFECT
    : effect(target, [{ lock: 'SHARE ROW EXCLUSIVE', rows: 'untouched' }])
}

/** The table of an action and the statements before it. */
interface ActionFacts {
  readonly table: string
  readonly before: readonly Statement[]
}

function actionOf(action: readonly Token[], { table, before }: ActionFacts): Action {
  const exclusive = (rows: Effect['rows'], target?: string): Action => ({
    lock: 'ACCESS EXCLUSIVE',
    rows,
    target,
  })
  const columns = addedColumns(action, postgresSyntax)
  if (columns.length > 0) {
    const types = new ColumnTypes(before)
    if (columns.some((column) => types.isWrittenAtOnce(column))) return exclusive('rewritten')
    const needs = columns.some(({ definition }) =>
      ['UNIQUE', 'PRIMARY', 'CHECK'].some((word) => hasWords(definition, word)),
    )
    return exclusive(needs ? 'read' : 'untouched', tableAfter('REFERENCES', action))
  }
  const constraint = addedConstraint(action)
  if (constraint !== undefined) {
    const isTrusted = ['NOT VALID', 'USING INDEX'].some((words) =>
      hasWords(constraint.definition, ...words.split(' ')),
    )
    const rows = isTrusted ? 'untouched' : 'read'
    if (constraint.kind === 'FOREIGN')
      return { lock: 'SHARE ROW EXCLUSIVE', rows, target: tableAfter('REFERENCES', action) }
    return exclusive(rows)
  }
  const altered = alteredColumn(action)
  if (altered !== undefined) {
    const change = new Cursor(altered.change)
    change.take('SET', 'DATA')
    if (change.take('TYPE')) {
      if (new ColumnTypes(before).isRewrittenAs(table, altered.name, change.rest))
        return exclusive('rewritten')
      // An index with another collation is rebuilt.
      return exclusive(hasWords(change.rest, 'COLLATE') ? 'read' : 'untouched')
    }
    if (change.sees('SET', 'EXPRESSION')) return exclusive('rewritten')
    if (change.sees('SET', 'STATISTICS')) return { lock: 'SHARE UPDATE EXCLUSIVE', rows: 'untouched' }
    return exclusive(
      change.sees('SET', 'NOT', 'NULL') && !hasNoNull(table, altered.name, before) ? 'read' : 'untouched',
    )
  }
  const cursor = new Cursor(action)
  if (cursor.sees('VALIDATE')) return { lock: 'SHARE UPDATE EXCLUSIVE', rows: 'read' }
  if (cursor.take('DETACH')) {
    const isConcurrent = hasWords(action, 'CONCURRENTLY') || hasWords(action, 'FINALIZE')
    return isConcurrent ? { lock: 'SHARE UPDATE EXCLUSIVE', rows: 'untouched' } : exclusive('untouched')
  }
  if (
    cursor.sees('SET', 'LOGGED') ||
    cursor.sees('SET', 'UNLOGGED') ||
    cursor.sees('SET', 'TABLESPACE') ||
    cursor.sees('SET', 'ACCESS', 'METHOD')
  )
    return exclusive('rewritten')
  if (['ENABLE', 'DISABLE'].some((verb) => cursor.sees(verb, 'TRIGGER')))
    return { lock: 'SHARE ROW EXCLUSIVE', rows: 'untouched' }
  return exclusive('untouched')
}

/**
 * Returns true if a validated CHECK of the table proves that the column has no NULL, so that SET NOT NULL
 * does not read the rows.
 */
function hasNoNull(table: string, column: string, before: readonly Statement[]): boolean {
  const actions = before.map(alterTable).flatMap((alter) => (alter?.table === table ? alter.actions : []))
  let state: 'unknown' | 'checked' | 'proven' = 'unknown'
  for (const action of actions) {
    const cursor = new Cursor(action)
    if (cursor.sees('DROP', 'CONSTRAINT')) state = 'unknown'
    if (state === 'checked' && cursor.sees('VALIDATE', 'CONSTRAINT')) state = 'proven'
    const { definition = [] } = addedConstraint(action) ?? {}
    if (checksNotNull(definition, column)) state = hasWords(definition, 'NOT', 'VALID') ? 'checked' : 'proven'
  }
  return state === 'proven'
}

/** Returns true for `CHECK (column IS NOT NULL)`. */
function checksNotNull(definition: readonly Token[], column: string): boolean {
  const cursor = new Cursor(definition)
  if (!cursor.take('CHECK')) return false
  const inside = new Cursor(cursor.inParentheses() ?? [])
  return inside.name() === column && inside.take('IS', 'NOT', 'NULL') && inside.rest.length === 0
}

function onIndex(statement: Statement): Effect | undefined {
  const index = createIndex(statement)
  if (index !== undefined)
    return effect(index.table, [
      { lock: index.isConcurrent ? 'SHARE UPDATE EXCLUSIVE' : 'SHARE', rows: 'read' },
    ])
  const drop = dropped(statement)
  if (drop?.what !== 'INDEX') return undefined
  const lock = drop.isConcurrent ? 'SHARE UPDATE EXCLUSIVE' : 'ACCESS EXCLUSIVE'
  return { tables: [], lock, blocks: BLOCKED[lock], rows: 'untouched' }
}

function onTable(statement: Statement): Effect | undefined {
  const drop = dropped(statement)
  const lock = 'ACCESS EXCLUSIVE'
  if (drop?.what === 'TABLE') return { tables: drop.names, lock, blocks: BLOCKED[lock], rows: 'untouched' }
  const cursor = new Cursor(statement.tokens)
  if (cursor.take('TRUNCATE')) {
    cursor.skip('TABLE', 'ONLY')
    return effect(cursor.name() ?? '', [{ lock, rows: 'untouched' }])
  }
  const verb = ['CREATE', 'DROP'].find((word) => cursor.take(word))
  cursor.skip('OR', 'REPLACE', 'CONSTRAINT')
  if (verb === undefined || !cursor.take('TRIGGER')) return undefined
  const table = tableAfter('ON', statement.tokens) ?? ''
  return effect(table, [{ lock: verb === 'CREATE' ? 'SHARE ROW EXCLUSIVE' : lock, rows: 'untouched' }])
}

function isHarmless(tokens: readonly Token[]): boolean {
  const [verb, ...rest] = tokens
  if (['COMMENT', 'GRANT', 'REVOKE', 'SET'].some((word) => isWord(verb, word))) return true
  const what = rest.find((token) => !['OR', 'REPLACE'].some((word) => isWord(token, word)))
  return ['CREATE', 'ALTER', 'DROP'].some((word) => isWord(verb, word)) && NO_TABLES.test(what?.value ?? '')
}
