import type { Migration } from '../files/migration-files.js'
import { ADOPTED_TABLE, VERSION_TABLE } from '../files/framework-tables.js'
import type { Row, Session, Working } from './session.js'

/** A version that was applied, or whose step did not finish. */
export interface AppliedVersion {
  readonly version: number
  readonly name: string
  /** Undefined if another tool applied the version. */
  readonly checksum: string | undefined
  readonly dirty: boolean
  /**
   * The number of completed statements of the up migration. 0 for a version that was recorded as applied
   * without running it. During a rollback it is `-1 - n` with `n` completed statements, because the table has
   * no other column for the direction.
   */
  readonly statementsDone: number
  readonly upSql: string | undefined
  readonly downSql: string | undefined
  /**
   * The error of the last run. Undefined for a dirty version whose run ended without a report; its progress
   * is then unknown.
   */
  readonly error: string | undefined
  /** Further facts about the failed run. */
  readonly marks?: RunMarks
  readonly appliedAt: Date
}

/** Flags that are stored as a prefix of the error, because the table has no columns for them. */
export interface RunMarks {
  /** True if the caller cancelled the run. */
  readonly isCancelled: boolean
  /** MySQL: true if its statement may be done, because an earlier run ended without a report. */
  readonly mayBeDone: boolean
}

/** A row to write. `appliedAt` is set by the server's clock. */
export type VersionRow = Omit<AppliedVersion, 'appliedAt'>

/**
 * Returns true if the end of the version's run is not recorded: it is running, or it ended without a report.
 */
export const isUnfinished = ({ dirty, error }: AppliedVersion): boolean => dirty && error === undefined

export const isGoingDown = ({ dirty, statementsDone }: AppliedVersion): boolean => dirty && statementsDone < 0

/**
 * Returns the versions in the order in which they were applied. This is not the numeric order if `0006` was
 * applied after `9002`.
 */
export async function readVersions(session: Session): Promise<readonly AppliedVersion[]> {
  if (!(await session.hasTable(VERSION_TABLE))) return []
  const rows = await session.rows(
    `SELECT ${COLUMNS}, ${session.engine.versionTable.appliedAt} AS applied FROM ${tableOf(session)} ORDER BY applied_at, version`,
  )
  return rows.map(fromRow)
}

/**
 * The version table, and the session that works on the module. If no session does, the run of an unfinished
 * version has ended without a report.
 */
export interface VersionsNow {
  readonly rows: readonly AppliedVersion[]
  readonly working: Working | undefined
}

export async function readVersionsNow(session: Session): Promise<VersionsNow> {
  const rows = await readVersions(session)
  const working = await session.working()
  // The session may have finished between the two queries.
  if (working === undefined && rows.some(isUnfinished)) return { rows: await readVersions(session), working }
  return { rows, working }
}

export async function makeVersionTable(session: Session): Promise<void> {
  if (!(await session.hasTable(VERSION_TABLE)))
    await session.run(`CREATE TABLE ${tableOf(session)} ${session.engine.versionTable.definition}`, 0)
}

/** Writes a version's row, replacing an existing one. */
export async function writeVersion(session: Session, row: VersionRow): Promise<void> {
  const [verb, ending] = session.engine.versionTable.replace(COLUMNS.split(', '))
  await insert(session, verb, ending, row)
}

/**
 * Writes a version's row. Fails if the version is already applied, so that two transactions cannot apply the
 * same version, even without the lock.
 */
export async function claimVersion(session: Session, row: VersionRow): Promise<void> {
  await session.rows(`DELETE FROM ${tableOf(session)} WHERE version = ? AND dirty = ?`, [row.version, true])
  await insert(session, 'INSERT', '', row)
}

export async function deleteVersion(session: Session, version: number): Promise<void> {
  await session.rows(`DELETE FROM ${tableOf(session)} WHERE version = ?`, [version])
}

/** Records a version as applied when it has finished. */
export async function markApplied(session: Session, version: number, statements: number): Promise<void> {
  await session.rows(
    `UPDATE ${tableOf(session)} SET dirty = ?, statements_done = ?, error = NULL, applied_at = ${session.engine.versionTable.now} WHERE version = ?`,
    [false, statements, version],
  )
}

/**
 * Records the progress of a version. `applied_at` stays unchanged, so that the order of versions does not
 * change.
 */
export async function markVersion(
  session: Session,
  version: number,
  mark: Pick<AppliedVersion, 'dirty' | 'statementsDone' | 'error'>,
): Promise<void> {
  await session.rows(
    `UPDATE ${tableOf(session)} SET dirty = ?, statements_done = ?, error = ? WHERE version = ?`,
    [mark.dirty, mark.statementsDone, mark.error ?? null, version],
  )
}

/** Stores a corrected down migration for later use. */
export async function keepDown(session: Session, version: number, downSql: string): Promise<void> {
  await session.rows(`UPDATE ${tableOf(session)} SET down_sql = ? WHERE version = ?`, [downSql, version])
}

/** Stores a version's file as the applied one. */
export async function keepFile(
  session: Session,
  { version, name, checksum, up, down }: Migration,
): Promise<void> {
  await session.rows(
    `UPDATE ${tableOf(session)} SET name = ?, checksum = ?, up_sql = ?, down_sql = COALESCE(?, down_sql) WHERE version = ?`,
    [name, checksum, up, down ?? null, version],
  )
}

/** Returns the row of a completely applied version. */
export const appliedRow = (
  { version, name, checksum, up, down }: Migration,
  statements: number,
): VersionRow => ({
  version,
  name,
  checksum,
  dirty: false,
  statementsDone: statements,
  upSql: up,
  downSql: down,
  error: undefined,
})

/** Returns the row of a version that counts as applied although its file was not run in this database. */
export const recordedRow = (migration: Migration): VersionRow => appliedRow(migration, 0)

/** Returns true if a version counts as applied although it was not run in this database. */
export const isRecorded = ({ dirty, statementsDone }: AppliedVersion): boolean =>
  !dirty && statementsDone === 0

/**
 * Returns the version and state from another tool's two-column table, or undefined if the table is missing or
 * empty.
 */
export async function readAdopted(
  session: Session,
): Promise<{ readonly version: number; readonly dirty: boolean } | undefined> {
  if (!(await session.hasTable(ADOPTED_TABLE))) return undefined
  const [inSchema, values] = session.engine.versionTable.inSchema(session.schema)
  const columns = await session.rows(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_name = ? AND ${inSchema} ORDER BY column_name`,
    [ADOPTED_TABLE, ...values],
  )
  if (columns.map(({ name }) => String(name).toLowerCase()).join() !== 'dirty,version') return undefined
  const [row] = await session.rows(
    `SELECT version, dirty FROM ${session.prefix}${ADOPTED_TABLE} ORDER BY version DESC LIMIT 1`,
  )
  return row && { version: Number(row.version), dirty: isTrue(row.dirty) }
}

const COLUMNS = 'version, name, checksum, dirty, statements_done, up_sql, down_sql, error, applied_at'

const tableOf = ({ prefix }: Session): string => prefix + VERSION_TABLE

async function insert(session: Session, verb: string, ending: string, row: VersionRow): Promise<void> {
  const { now } = session.engine.versionTable
  const { version, name, checksum, dirty, statementsDone, upSql, downSql, error } = row
  const values = [version, name, checksum, dirty, statementsDone, upSql, downSql, error]
  await session.rows(
    `${verb} INTO ${tableOf(session)} (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${now}) ${ending}`,
    values.map((value) => value ?? null),
  )
}

function fromRow(row: Row): AppliedVersion {
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
  return {
    version: Number(row.version),
    name: String(row.name),
    checksum: text(row.checksum),
    dirty: isTrue(row.dirty),
    statementsDone: Number(row.statements_done),
    upSql: text(row.up_sql),
    downSql: text(row.down_sql),
    ...errorIn(text(row.error)),
    appliedAt: row.applied instanceof Date ? row.applied : new Date(String(row.applied)),
  }
}

/** Each mark is optional; they are stored in this order. */
const MARKS = { isCancelled: '[cancelled] ', mayBeDone: '[may be done] ' } as const

/** Returns an error in its stored form. */
export const withMarks = (error: string, { isCancelled, mayBeDone }: RunMarks): string =>
  `${isCancelled ? MARKS.isCancelled : ''}${mayBeDone ? MARKS.mayBeDone : ''}${error}`

function errorIn(stored: string | undefined): Pick<AppliedVersion, 'error' | 'marks'> {
  if (stored === undefined) return { error: undefined }
  const isCancelled = stored.startsWith(MARKS.isCancelled)
  const rest = isCancelled ? stored.slice(MARKS.isCancelled.length) : stored
  const mayBeDone = rest.startsWith(MARKS.mayBeDone)
  const error = mayBeDone ? rest.slice(MARKS.mayBeDone.length) : rest
  return { error, marks: { isCancelled, mayBeDone } }
}

const isTrue = (value: unknown): boolean => value === true || value === 1 || value === '1'
