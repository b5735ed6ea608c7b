import { FRAMEWORK, isOfFramework } from './files/migration-files.js'
import type { Breaks } from './messages/break-messages.js'
import { type Planned, readSet } from './migration-set.js'
import { withSession } from './session/session.js'
import { preflight, refuseEdited } from './preflight.js'
import { breakingIn } from './planning/breaks.js'
import { droppedTrigger } from './planning/dropped-trigger.js'
import { MadeTables } from './planning/made-tables.js'
import { downStep, unfinishedOf } from './down-step.js'
import type { ResolvedOptions } from './session/migrate-options.js'
import type { Session } from './session/session.js'
import { type AppliedVersion, isGoingDown } from './session/version-table.js'
import { backfillOf } from './sql/backfill.js'
import { createTable } from './sql/statement-shape.js'
import { notBroughtBack, type Lost } from './sql/losses.js'
import { rowsThatFail } from './sql/breaking-rows.js'
import { splitStatements, type Statement, summaryOf } from './sql/split-statements.js'
import { type Effect, type Loss, lossesOf, NO_EFFECT, type TableSize } from './session/effect.js'

/** A statement that the next run executes. */
export interface PlannedStatement extends Omit<Effect, 'tables'> {
  /** The statement's line in its file, starting at 1. */
  readonly line: number
  /** The statement's first words, without literals. */
  readonly text: string
  /** The tables that it reads or changes, except tables that this run creates. */
  readonly tables: readonly PlannedTable[]
  /** The data that it removes. */
  readonly loses: readonly PlannedLoss[]
  /**
   * Queries for the rows that make it fail. Empty if it reads no rows, or if its SQL does not determine them.
   */
  readonly fails: readonly string[]
  /**
   * The version, this or an earlier one, that adds a table or column of these queries. Undefined if they can
   * be run now.
   */
  readonly failsAfter: string | undefined
  /** The reason why running code fails afterwards. Undefined if nothing indicates that it does. */
  readonly breaks: Breaks | undefined
  /**
   * True if it creates a table, or only changes tables that this run creates. No other client can wait for
   * these.
   */
  readonly isNew: boolean
}

/** Data that a statement removes. */
export interface PlannedLoss extends Loss {
  /** True if the down migration restores the values from another source. */
  readonly isBroughtBack: boolean
}

/** A table that the next versions read or change. */
export interface PlannedTable {
  readonly name: string
  /** The table's size. Undefined if it does not exist. */
  readonly size: TableSize | undefined
}

/** An interrupted rollback, which the next run completes first. */
export interface PlannedRollBack {
  /** True if it removed nothing. The run then clears its mark and applies nothing. */
  readonly staysApplied: boolean
  /**
   * True if only the run can determine whether the rollback is complete. If it is not, the version stays
   * applied.
   */
  readonly isUnknown: boolean
  /** The number of its completed statements, and their total. */
  readonly done: number
  readonly of: number
  /** The statements that the run sends to finish the rollback. */
  readonly statements: readonly PlannedStatement[]
}

/** A version that the next run applies, or whose rollback mark it clears. */
export interface PlannedVersion {
  readonly version: number
  /** The version's name, such as `0002_widgets`. */
  readonly name: string
  /** The number of rows per chunk, for a backfill. */
  readonly chunk: number | undefined
  /** True if its files are the framework's. */
  readonly isFramework: boolean
  /** The number of statements that an earlier run completed. `statements` omits them. MySQL only. */
  readonly done: number
  /** The interrupted rollback. Undefined if there is none. */
  readonly rollBack: PlannedRollBack | undefined
  readonly statements: readonly PlannedStatement[]
}

/**
 * Returns the plan of the next `up`, based on the engine's rules and the sizes of the tables. Changes
 * nothing.
 *
 * @throws the error with which `up` would reject the database or the files.
 */
export async function plan(options: ResolvedOptions): Promise<readonly PlannedVersion[]> {
  const set = await readSet(options.files, options.engine, options.statementTimeoutMs)
  return withSession(options, 'read', async (session) => {
    const { rows, isSettled } = await preflight(session, set)
    const versions: PlannedVersion[] = []
    const made = new MadeTables(session)
    const before: Statement[] = []
    for (const migration of set.migrations) {
      const { version, name, script } = migration
      const row = rows.find((one) => one.version === version)
      const isFramework = isOfFramework(version)
      const rollBack =
        row !== undefined && isGoingDown(row)
          ? await plannedRollBack({ session, options, before, made }, row, migration)
          : undefined
      if (rollBack?.staysApplied === true)
        versions.push({ version, name, chunk: undefined, isFramework, done: 0, rollBack, statements: [] })
      if (isSettled(version) || rollBack?.staysApplied === true) {
        before.push(...script.statements)
        // The run creates Ashlar's tables that the other tool's history lacks.
        if (rows.length === 0 && version === FRAMEWORK)
          for (const one of script.statements) await made.note(one)
        continue
      }
      const done = row === undefined || isGoingDown(row) ? 0 : row.statementsDone
      const statements: PlannedStatement[] = []
      const breaking = await breakingIn(session, before, script, options)
      const down = splitStatements(migration.down ?? '', options.engine.syntax)
      const gone = notBroughtBack(script.statements, down.statements)
      for (const [at, statement] of script.statements.entries()) {
        await made.note(statement, at >= done ? name : undefined)
        const about = { before, made, breaks: breaking[at], gone }
        if (at >= done) statements.push(await plannedStatement(session, statement, about))
        before.push(statement)
      }
      const chunk = backfillOf(script)?.chunk
      versions.push({ version, name, chunk, isFramework, done, rollBack, statements })
    }
    return versions
  })
}

interface Planning {
  readonly session: Session
  readonly options: ResolvedOptions
  /** The statements that run earlier or have already run. */
  readonly before: Statement[]
  readonly made: MadeTables
}

/** Returns the interrupted rollback that the next run finishes first. */
async function plannedRollBack(
  { session, options, before, made }: Planning,
  row: AppliedVersion,
  migration: Planned,
): Promise<PlannedRollBack> {
  const { done = 0, of = 0, staysApplied = false } = unfinishedOf(row, options.engine) ?? {}
  if (staysApplied) refuseEdited({ migrations: [migration] }, [{ ...row, dirty: false }], options.engine)
  const isUnknown = options.engine.isKnownUndone(row) === undefined
  if (staysApplied || isUnknown) return { staysApplied, isUnknown, done, of, statements: [] }
  const step = downStep(session, options, row, migration)
  options.engine.refuseResumed(step, row)
  const statements: PlannedStatement[] = []
  for (const statement of step.statements.slice(done)) {
    await made.note(statement)
    statements.push(await plannedStatement(session, statement, { before, made }))
    before.push(statement)
  }
  return { staysApplied, isUnknown, done, of: step.statements.length, statements }
}

/**
 * The maximum length. It is longer than in a run's progress, because operators make decisions from a plan.
 */
const LONGEST_TEXT = 120

interface AboutStatement {
  /** The statements that run earlier or have already run. */
  readonly before: readonly Statement[]
  readonly made: MadeTables
  readonly breaks?: Breaks | undefined
  /** The values that its down migration does not restore. Undefined for a down migration. */
  readonly gone?: readonly Lost[]
}

async function plannedStatement(
  session: Session,
  statement: Statement,
  { before, made, breaks, gone }: AboutStatement,
): Promise<PlannedStatement> {
  const { effectOf, sizeOf } = session.engine.effects
  const effect = await ofTrigger(session, effectOf(statement, before), statement, before)
  const others = effect.tables.filter((table) => !made.has(table))
  const isOfMade = effect.tables.length > 0 || made.has(createTable(statement)?.table ?? '')
  const isNew = isOfMade && others.length === 0
  const { lock, blocks, rows, waitsForOlder } = isNew ? NO_EFFECT : effect
  const fails = isNew || rows === 'untouched' ? [] : rowsThatFail(statement, before, session.prefix)
  const tables: PlannedTable[] = []
  for (const name of others) tables.push({ name, size: await sizeOf(session, name.split('.')) })
  return {
    line: statement.line,
    text: summaryOf(statement, LONGEST_TEXT),
    lock,
    blocks,
    rows,
    ...(waitsForOlder && { waitsForOlder }),
    tables,
    loses: isNew ? [] : (await lossesOf(session, [statement])).map((loss) => plannedLoss(loss, gone)),
    fails,
    failsAfter: fails.map((query) => made.addedFor(query)).find((version) => version !== undefined),
    breaks: isNew ? undefined : breaks,
    isNew,
  }
}

/** Adds the table of a dropped trigger, which MySQL's DROP TRIGGER does not name. */
async function ofTrigger(
  session: Session,
  effect: Effect,
  statement: Statement,
  before: readonly Statement[],
): Promise<Effect> {
  if (effect.tables.length > 0) return effect
  const table = (await droppedTrigger(session, statement, before))?.table
  return table === undefined ? effect : { ...effect, tables: [table] }
}

const plannedLoss = (loss: Loss, gone: readonly Lost[] | undefined): PlannedLoss => ({
  ...loss,
  isBroughtBack:
    gone?.every(
      ({ what, name, table }) => what !== loss.what || name !== loss.name || table !== loss.table,
    ) ?? false,
})
