import { Cursor, isWord } from '../sql/cursor.js'
import { type Lost, lostBy } from '../sql/losses.js'
import type { Statement } from '../sql/split-statements.js'
import type { Token } from '../sql/tokenize.js'
import type { Session } from './session.js'

/** The effect of a statement on other clients while it runs, as far as its SQL shows. */
export interface Effect {
  /** The tables that it locks, as named in the statement. */
  readonly tables: readonly string[]
  /**
   * The server's name of the lock on the tables. Empty without a lock. PostgreSQL holds it until the file
   * ends.
   */
  readonly lock: string
  /** The statements of other clients that wait meanwhile. */
  readonly blocks:
    'nothing' | 'the same rows' | 'writes' | 'reads and writes' | 'reads and writes for a moment' | 'unknown'
  /**
   * The effect on existing rows. `rewritten` takes time and space in proportion to the table. `in place` may,
   * too, while other clients read and write.
   */
  readonly rows: 'untouched' | 'read' | 'written' | 'rewritten' | 'in place' | 'unknown'
  /**
   * True if it waits for transactions that were open before it. The lock timeout does not apply to this wait;
   * the timeout for such statements does.
   */
  readonly waitsForOlder?: true
}

/** The size of a table, according to the server's statistics. */
export interface TableSize {
  /**
   * The number of rows. 0 for a table that is known to be empty; undefined if the server has no statistics.
   */
  readonly rows: number | undefined
  readonly bytes: number
}

/** Values that statements permanently remove, and the size of their table. */
export interface Loss extends Lost {
  /** The table's size. Undefined if it does not exist. */
  readonly size: TableSize | undefined
}

/**
 * Returns the data that statements remove, without duplicates. Generated columns can be computed again and do
 * not count.
 */
export async function lossesOf(session: Session, statements: readonly Statement[]): Promise<readonly Loss[]> {
  const { effects } = session.engine
  const lost = statements.flatMap(lostBy)
  const losses: Loss[] = []
  for (const one of new Map(lost.map((each) => [JSON.stringify(each), each])).values()) {
    if (await isComputed(session, one)) continue
    const size = one.table === undefined ? undefined : await effects.sizeOf(session, one.table.split('.'))
    losses.push({ ...one, size })
  }
  return losses
}

async function isComputed(session: Session, { what, name, table = '' }: Lost): Promise<boolean> {
  if (what !== 'column') return false
  const [own = '', schema = session.schema] = table.split('.').reverse()
  const [condition, values] = session.engine.versionTable.inSchema(schema)
  const rows = await session.rows(
    `SELECT 1 AS found FROM information_schema.columns
     WHERE ${condition} AND table_name = ? AND column_name = ? AND generation_expression <> ''`,
    [...values, own, name],
  )
  return rows.length > 0
}

export interface HeldLock {
  readonly lock: string
  /** The table's name, without its schema if that is the module's. */
  readonly table: string
}

/**
 * The moments at which a statement waits for its lock: at any time while it runs, or only at its beginning
 * and end. It waits until every transaction that uses the table has ended, and other statements queue behind
 * it.
 */
export type LockWait = 'whileItRuns' | 'atBothEnds'

/** The effects of statements on an engine. */
export interface EngineEffects {
  /**
   * Returns the effect of a statement.
   *
   * @param before - the statements that run earlier or have already run. They may prove a property for
   * which the statement would otherwise read every row.
   */
  readonly effectOf: (statement: Statement, before: readonly Statement[]) => Effect
  readonly lockWaits: LockWait
  /**
   * Returns the session's table locks, such as `ACCESS EXCLUSIVE` on `tasks`, or undefined if the server does
   * not report them.
   */
  readonly locks: (session: Session) => Promise<readonly HeldLock[] | undefined>
  /**
   * Selects the module's tables as `name`, with a `storage` value that changes when the table is rewritten.
   * Its only parameter is the schema.
   */
  readonly storage: string
  /** Returns undefined if the table does not exist. */
  readonly sizeOf: (session: Session, table: readonly string[]) => Promise<TableSize | undefined>
}

export const NO_EFFECT: Effect = { tables: [], lock: '', blocks: 'nothing', rows: 'untouched' }
export const UNKNOWN: Effect = { tables: [], lock: 'unknown', blocks: 'unknown', rows: 'unknown' }

/** Returns true if a table, given with quotes, has no rows. Returns false if this cannot be determined. */
export const isEmpty = (session: Session, table: string): Promise<boolean> =>
  session.rows(`SELECT 1 AS one FROM ${table} LIMIT 1`).then(
    (rows) => rows.length === 0,
    () => false,
  )

/** Returns the table that an INSERT, UPDATE, DELETE or REPLACE writes. */
export function writtenTable({ tokens }: Statement): string | undefined {
  const cursor = new Cursor(tokens)
  if (!['INSERT', 'UPDATE', 'DELETE', 'REPLACE'].some((verb) => cursor.take(verb))) return undefined
  cursor.skip('LOW_PRIORITY', 'IGNORE', 'INTO', 'FROM', 'ONLY')
  return cursor.name()
}

/** Returns the table after a word such as ON or REFERENCES. */
export function tableAfter(word: string, tokens: readonly Token[]): string | undefined {
  const at = tokens.findIndex((token) => isWord(token, word))
  return at < 0 ? undefined : new Cursor(tokens.slice(at + 1)).name()
}
