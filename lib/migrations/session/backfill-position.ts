import { BACKFILL_TABLE } from '../files/framework-tables.js'
import { SessionError } from './session-error.js'
import type { Row, Session } from './session.js'

/** The progress of a backfill. */
export interface BackfillPosition {
  /** The table and its key. A position for another table or key is ignored. */
  readonly walks: string
  /** The key of the last chunk's last row, as strings. Undefined before the first chunk. */
  readonly end: readonly string[] | undefined
  /** The number of rows of the table up to that key, and the number of these that were written. */
  readonly walked: number
  readonly written: number
}

const tableOf = ({ prefix }: Session): string => prefix + BACKFILL_TABLE

/**
 * Returns the position of a backfill, or undefined if it has not begun. Creates the table if it is missing.
 */
export async function readPosition(session: Session, version: number): Promise<BackfillPosition | undefined> {
  if (!(await session.hasTable(BACKFILL_TABLE))) {
    await session.run(`CREATE TABLE ${tableOf(session)} ${session.engine.versionTable.backfills}`, 0)
    return undefined
  }
  const [row] = await session.rows(`${selectFrom(session)} WHERE version = ?`, [version])
  return row && positionOf(row)
}

/** Returns the positions of all versions; an empty map if the user may not read them. Changes nothing. */
export async function readPositions(session: Session): Promise<ReadonlyMap<number, BackfillPosition>> {
  try {
    if (!(await session.hasTable(BACKFILL_TABLE))) return new Map()
    const rows = await session.rows(selectFrom(session))
    return new Map(rows.map((row) => [Number(row.version), positionOf(row)]))
  } catch (error) {
    if (error instanceof SessionError && error.failure === 'denied') return new Map()
    throw error
  }
}

const selectFrom = (session: Session): string =>
  `SELECT version, walks, position, rows_walked, rows_written FROM ${tableOf(session)}`

const positionOf = (row: Row): BackfillPosition => ({
  walks: String(row.walks),
  end: typeof row.position === 'string' ? (JSON.parse(row.position) as readonly string[]) : undefined,
  walked: Number(row.rows_walked),
  written: Number(row.rows_written),
})

/** Replaces a version's position, in the transaction of a chunk. */
export async function writePosition(
  session: Session,
  version: number,
  { walks, end, walked, written }: BackfillPosition,
): Promise<void> {
  await forgetPosition(session, version)
  await session.rows(
    `INSERT INTO ${tableOf(session)} (version, walks, position, rows_walked, rows_written, moved_at)
     VALUES (?, ?, ?, ?, ?, ${session.engine.versionTable.now})`,
    [version, walks, end === undefined ? null : JSON.stringify(end), walked, written],
  )
}

export async function forgetPosition(session: Session, version: number): Promise<void> {
  await session.rows(`DELETE FROM ${tableOf(session)} WHERE version = ?`, [version])
}
