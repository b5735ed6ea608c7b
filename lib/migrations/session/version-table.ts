import type { Migration } from '../files/migration-files.js'
import { ADOPTED_TABLE, VERSION_TABLE } from '../files/framework-tables.js'
import type { Row, Session, Working } from './session.js'

/** A version that was applied, or whose step did not finish. */
export interface AppliedVersion {
  readonly version: number
  readonly name: string
  /** Undefined when another tool applied the version. */
  readonly checksum: string | undefined
  readonly dirty: boolean
  /**
   * The number of statements of the up migration that are done; 0 for a version recorded as applied without
   * running. A negative number means that the version is being rolled back, with `-1 - n` statements done:
   * the table alone must show the direction.
   */
  readonly statementsDone: number
  readonly upSql: string | undefined
  readonly downSql: string | undefined
  /** Undefined for a dirty version whose run ended without a report: how far the statement got is unknown. */
  readonly error: string | undefined
  /** Other facts about the run that ended with the error. */
  readonly marks?: RunMarks
  readonly appliedAt: Date
}

/** The facts stored in front of an error, because the table has no column for them. */
export interface RunMarks {
  /** The caller cancelled the run. */
  readonly isCancelled: boolean
  /** MySQL: its statement may be done, because a run before it ended without a report. */
  readonly mayBeDone: boolean
}

/** A row to write; `appliedAt` is the server's clock. */
export type VersionRow = Omit<AppliedVersion, 'appliedAt'>

/** The end of its step is not recorded: it runs, or its run ended without a report. */
export const isUnfinished = ({ dirty, error }: AppliedVersion): boolean => dirty && error === undefined

export const isGoingDown = ({ dirty, statementsDone }: AppliedVersion): boolean => dirty && statementsDone < 0

/** In the order in which they were applied. That is not the numeric order when `0006` came after `9002`. */
export async function readVersions(session: Session): Promise<readonly AppliedVersion[]> {
  if (!(await session.hasTable(VERSION_TABLE))) return []
  const rows = await session.rows(
    `SELECT ${COLUMNS}, ${session.engine.versionTable.appliedAt} AS applied FROM ${tableOf(session)} ORDER BY applied_at, version`,
  )
  return rows.map(fromRow)
}

/**
 * The version table, and who works on the module; without it, the run of an unfinished version has ended
 * without a report.
 */
export interface VersionsNow {
  readonly rows: readonly AppliedVersion[]
  readonly working: Working | undefined
}

export async function readVersionsNow(session: Session): Promise<VersionsNow> {
  const rows = await readVersions(session)
  const working = await session.working()
  // It may have finished in between.
  if (working === undefined && rows.some(isUnfinished)) return { rows: await readVersions(session), working }
  return { rows, working }
}

export async function makeVersionTable(session: Session): Promise<void> {
  if (!(await session.hasTable(VERSION_TABLE)))
    await session.run(`CREATE TABLE ${tableOf(session)} ${session.engine.versionTable.definition}`, 0)
}

/** Writes a version's row and replaces an existing one. */
export async function writeVersion(session: Session, row: VersionRow): Promise<void> {
  const [verb, ending] = session.engine.versionTable.replace(COLUMNS.split(', '))
  await insert(session, verb, ending, row)
}

/**
 * Writes a version's row unless the version is applied; then the statement fails. So no two transactions can
 * apply one version, even without the lock.
 */
export async function claimVersion(session: Session, row: VersionRow): Promise<void> {
  await session.rows(`DELETE FROM ${tableOf(session)} WHERE version = ? AND dirty = ?`, [row.version, true])
  await insert(session, 'INSERT', '', row)
}

export async function deleteVersion(session: Session, version: number): Promise<void> {
  await session.rows(`DELETE FROM ${tableOf(session)} WHERE version = ?`, [version])
}

/** Records that a version is applied now, at its end. */
export async function markApplied(session: Session, version: number, statements: number): Promise<void> {
  await session.rows(
    `UPDATE ${tableOf(session)} SET dirty = ?, statements_done = ?, error = NULL, applied_at = ${session.engine.versionTable.now} WHERE version = ?`,
    [false, statements, version],
  )
}

/** Records how far a version got. `applied_at` stays, so that the order of the versions stays. */
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

/** Stores the file of a version as what was applied. */
export async function keepFile(
  session: Session,
  { version, name, checksum, up, down }: Migration,
): Promise<void> {
  await session.rows(
    `UPDATE ${tableOf(session)} SET name = ?, checksum = ?, up_sql = ?, down_sql = COALESCE(?, down_sql) WHERE version = ?`,
    [name, checksum, up, down ?? null, version],
  )
}

/** A version that is fully applied. */
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

/** A version that counts as applied, and whose file was not run here. */
export const recordedRow = (migration: Migration): VersionRow => appliedRow(migration, 0)

/** True if a version counts as applied without having been run here. */
export const isRecorded = ({ dirty, statementsDone }: AppliedVersion): boolean =>
  !dirty && statementsDone === 0

/** Version and state of another tool's two-column table; undefined when it is missing or empty. */
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

/** In the order of the marks, each for itself; nothing where there is none. */
const MARKS = { isCancelled: '[cancelled] ', mayBeDone: '[may be done] ' } as const

/** An error as it is stored. */
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
