import {
  type Effect,
  type EngineEffects,
  isEmpty,
  NO_EFFECT,
  tableAfter,
  UNKNOWN,
  writtenTable,
} from '../session/effect.js'
import type { Session } from '../session/session.js'
import { Cursor, isWord } from '../sql/cursor.js'
import { alterTable, type AlterTable, createIndex, createTable, dropped } from '../sql/statement-shape.js'
import type { Statement } from '../sql/split-statements.js'
import type { Token } from '../sql/tokenize.js'
import { setting } from './lint/mysql-rules.js'

/** Changes of a table wait for transactions that use it, and then lock it for a moment. */
const METADATA = 'metadata'
const MOMENT = 'reads and writes for a moment'
/** The server chooses the least expensive algorithm that it supports. The statement does not specify it. */
const CHOSEN =
  'chosen by the server, which may copy the table while writes wait: the statement names no ALGORITHM'

const UNSAID = { blocks: 'unknown', rows: 'unknown' } as const

/** Objects that CREATE, ALTER and DROP can change without locking a table. */
const NO_TABLES = ['FUNCTION', 'PROCEDURE', 'VIEW', 'EVENT', 'SEQUENCE']

export const mysqlEffects: EngineEffects = {
  effectOf: (statement) => {
    const { tokens } = statement
    const alter = alterTable(statement)
    if (alter !== undefined) return altered(alter, tokens)
    const written = writtenTable(statement)
    if (written !== undefined)
      return { tables: [written], lock: 'rows', blocks: 'the same rows', rows: 'written' }
    if (createTable(statement) !== undefined) return made(tableAfter('REFERENCES', tokens))
    return onIndex(statement) ?? onTable(statement) ?? (isHarmless(tokens) ? NO_EFFECT : UNKNOWN)
  },
  lockWaits: 'atBothEnds',
  // MySQL takes metadata locks, which performance_schema only shows if it is enabled.
  locks: () => Promise.resolve(undefined),
  // A table that is rebuilt gets a new id. The query requires the PROCESS privilege.
  storage: `SELECT SUBSTRING_INDEX(NAME, '/', -1) AS name, TABLE_ID AS storage FROM information_schema./*M! INNODB_SYS_TABLES */ /*!80000 INNODB_TABLES */
    WHERE NAME LIKE CONCAT(DATABASE(), '/%') AND ? = ''`,
  sizeOf: async (session, path) => {
    const [table = '', database] = [...path].reverse()
    const [row] = await session.rows(
      `SELECT TABLE_ROWS AS n, DATA_LENGTH + INDEX_LENGTH AS bytes FROM information_schema.TABLES
       WHERE TABLE_NAME = ? AND TABLE_SCHEMA = ${database === undefined ? 'DATABASE()' : '?'}`,
      database === undefined ? [table] : [table, database],
    )
    if (row === undefined) return undefined
    const rows =
      row.n !== null && Number(row.n) === 0 && (await isEmptyNow(session, path))
        ? 0
        : Number(row.n) || undefined
    return { rows, bytes: Number(row.bytes) }
  },
}

/**
 * Returns true if the table is empty. The statistics show 0 rows for an empty table and for one that is not
 * yet counted. Reading a table that is being changed waits for one second at most.
 */
async function isEmptyNow(session: Session, path: readonly string[]): Promise<boolean> {
  await session.rows('SET @ashlar_wait = @@SESSION.lock_wait_timeout')
  await session.rows('SET SESSION lock_wait_timeout = 1')
  const found = await isEmpty(session, path.map((name) => `\`${name.replaceAll('`', '``')}\``).join('.'))
  await session.rows('SET SESSION lock_wait_timeout = @ashlar_wait')
  return found
}

/**
 * Returns the effect of creating a table: it waits for transactions that use the table to which it refers.
 */
const made = (target: string | undefined): Effect =>
  target === undefined ? NO_EFFECT : { tables: [target], lock: METADATA, blocks: MOMENT, rows: 'untouched' }

/** Returns true for `ADD [UNIQUE] KEY`, and for an option such as ALGORITHM. */
const addsIndex = (action: readonly Token[]): boolean =>
  /^(ADD (UNIQUE |CONSTRAINT \S+ UNIQUE )?(KEY|INDEX)|ADD CONSTRAINT \S+ UNIQUE|ALGORITHM|LOCK)\b/.test(
    action
      .slice(0, 5)
      .map(({ value }) => value)
      .join(' '),
  )

function altered({ table, actions }: AlterTable, tokens: readonly Token[]): Effect {
  const on = { tables: [table] }
  if (setting(tokens, 'ALGORITHM', ['INSTANT']))
    return { ...on, lock: METADATA, blocks: MOMENT, rows: 'untouched' }
  if (setting(tokens, 'ALGORITHM', ['COPY']))
    return { ...on, lock: 'SHARED', blocks: 'writes', rows: 'rewritten' }
  if (!setting(tokens, 'ALGORITHM', ['INPLACE', 'NOCOPY']))
    return { ...on, lock: CHOSEN, blocks: 'unknown', rows: 'unknown' }
  const isShared = !setting(tokens, 'LOCK', ['NONE'])
  if (isShared) return { ...on, lock: METADATA, ...UNSAID }
  return { ...on, lock: METADATA, blocks: MOMENT, rows: actions.every(addsIndex) ? 'read' : 'in place' }
}

/**
 * Returns the effect of creating or dropping an index. InnoDB builds most indexes while others read and
 * write.
 */
function onIndex(statement: Statement): Effect | undefined {
  const index = createIndex(statement)
  if (index !== undefined) {
    const isSpecial = ['FULLTEXT', 'SPATIAL'].some((word) => isWord(statement.tokens[1], word))
    return { tables: [index.table], lock: METADATA, blocks: isSpecial ? 'writes' : MOMENT, rows: 'read' }
  }
  if (dropped(statement)?.what !== 'INDEX') return undefined
  const table = tableAfter('ON', statement.tokens) ?? ''
  return { tables: [table], lock: METADATA, blocks: MOMENT, rows: 'untouched' }
}

function onTable(statement: Statement): Effect | undefined {
  const drop = dropped(statement)
  const gone = { lock: METADATA, blocks: 'reads and writes', rows: 'untouched' } as const
  if (drop?.what === 'TABLE') return { ...gone, tables: drop.names }
  const cursor = new Cursor(statement.tokens)
  if (cursor.take('TRUNCATE') || cursor.take('RENAME')) {
    cursor.take('TABLE')
    return { ...gone, tables: [cursor.name() ?? ''] }
  }
  const verb = ['CREATE', 'DROP'].find((word) => cursor.take(word))
  cursor.skip('OR', 'REPLACE')
  if (verb === undefined || !cursor.take('TRIGGER')) return undefined
  const table = tableAfter('ON', statement.tokens)
  return { tables: table === undefined ? [] : [table], lock: METADATA, blocks: MOMENT, rows: 'untouched' }
}

function isHarmless(tokens: readonly Token[]): boolean {
  const [verb, ...rest] = tokens
  if (['GRANT', 'REVOKE', 'SET'].some((word) => isWord(verb, word))) return true
  const isMade = ['CREATE', 'ALTER', 'DROP'].some((word) => isWord(verb, word))
  return isMade && rest.slice(0, 4).some((token) => NO_TABLES.some((word) => isWord(token, word)))
}
