import { FRAMEWORK, isOfFramework } from './files/migration-files.js'
import { type Planned, readSet } from './migration-set.js'
import { withSession } from './session/session.js'
import { preflight, refuseEdited } from './preflight.js'
import { downStep, unfinishedOf } from './recover.js'
import type { ResolvedOptions } from './session/options.js'
import type { Session } from './session/session.js'
import { type AppliedVersion, isGoingDown } from './session/version-table.js'
import { backfillOf } from './sql/backfill.js'
import { brokenInserts } from './sql/broken-inserts.js'
import { createTable, dropped } from './sql/statement-shape.js'
import { notBroughtBack, type Lost } from './sql/losses.js'
import { rowsThatFail, uniqueColumns } from './sql/breaking-rows.js'
import { type Script, splitStatements, type Statement, summaryOf } from './sql/statements.js'
import { lintFile } from './lint/lint.js'
import { type Effect, type Loss, lossesOf, NO_EFFECT, type TableSize } from './session/effect.js'

/** A statement that the next run sends. */
export interface PlannedStatement extends Omit<Effect, 'tables'> {
  /** The line in its file, from 1. */
  readonly line: number
  /** Its first words, without literals. */
  readonly text: string
  /** Without those that this run makes. */
  readonly tables: readonly PlannedTable[]
  /** Values that it takes away. */
  readonly loses: readonly PlannedLoss[]
  /** Queries for the rows with which it fails; empty where it looks at no rows, or its text does not show which. */
  readonly fails: readonly string[]
  /** Why code that runs now fails afterwards; undefined where nothing says so. */
  readonly breaks: string | undefined
  /** It makes a table, or works on tables that this run makes: nobody can wait for them. */
  readonly isNew: boolean
}

/** Values that a statement takes away. */
export interface PlannedLoss extends Loss {
  /** Whether the way down writes them again, from elsewhere. */
  readonly isBroughtBack: boolean
}

/** A table that the next versions touch. */
export interface PlannedTable {
  readonly name: string
  /** Undefined for a table that is not there yet. */
  readonly size: TableSize | undefined
}

/** A rollback that stopped, with which the next run begins. */
export interface PlannedRollBack {
  /** Whether it took nothing away: then the run clears its mark, and applies nothing. */
  readonly staysApplied: boolean
  /** Whether only the run finds out if it is done: if it is not, the version stays applied. */
  readonly isUnknown: boolean
  /** How many of its statements are done, and how many there are. */
  readonly done: number
  readonly of: number
  /** Those that the run sends to finish it. */
  readonly statements: readonly PlannedStatement[]
}

/** A version that the next run applies, or of which it clears the mark of a rollback. */
export interface PlannedVersion {
  /** `0002_widgets`. */
  readonly name: string
  /** Rows of a chunk, for a backfill. */
  readonly chunk: number | undefined
  /** Whether its files are those of the framework. */
  readonly isFramework: boolean
  /** How many statements of it an earlier run has done, which `statements` leaves out; MySQL only. */
  readonly done: number
  /** The rollback that stopped; undefined where there is none. */
  readonly rollBack: PlannedRollBack | undefined
  readonly statements: readonly PlannedStatement[]
}

/**
 * What the next `up` would do, by the rules of the engine and the sizes of the tables. Changes nothing.
 * @throws what `up` would refuse the database or the files with.
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
        versions.push({ name, chunk: undefined, isFramework, done: 0, rollBack, statements: [] })
      if (isSettled(version) || rollBack?.staysApplied === true) {
        before.push(...script.statements)
        // The run makes what another tool left out.
        if (rows.length === 0 && version === FRAMEWORK)
          for (const one of script.statements) await made.note(one)
        continue
      }
      const done = row === undefined || isGoingDown(row) ? 0 : row.statementsDone
      const statements: PlannedStatement[] = []
      const breaking = await breakingIn(session, script, options)
      const down = splitStatements(migration.down ?? '', options.engine.syntax)
      const gone = notBroughtBack(script.statements, down.statements)
      for (const [at, statement] of script.statements.entries()) {
        await made.note(statement)
        const about = { before, made, breaks: breaking[at], gone }
        if (at >= done) statements.push(await plannedStatement(session, statement, about))
        before.push(statement)
      }
      versions.push({ name, chunk: backfillOf(script)?.chunk, isFramework, done, rollBack, statements })
    }
    return versions
  })
}

interface Planning {
  readonly session: Session
  readonly options: ResolvedOptions
  /** What runs before, or has run. */
  readonly before: Statement[]
  readonly made: MadeTables
}

/** What the next run does first with a rollback that stopped. */
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

/** For each statement why code that runs now fails after it, whether or not its file accepts that. */
async function breakingIn(
  session: Session,
  { statements, problem }: Script,
  { engine, statementTimeoutMs }: ResolvedOptions,
): Promise<readonly (string | undefined)[]> {
  const findings = lintFile({
    name: '',
    engine: engine.lint,
    direction: 'up',
    script: { statements, problem, comments: [] },
    statementTimeoutMs,
  })
  const breaking: (string | undefined)[] = []
  for (const statement of statements) {
    const found = findings.find((one) => one.line === statement.line && BREAKING.includes(one.rule))
    const why = found?.text.split(': ')[0]
    breaking.push(why?.replace(OF_DATA, '') ?? (await brokenBy(session, statement)))
  }
  return breaking
}

/** Lint has nothing against these: it is how a contract ends. */
const brokenBy = async (session: Session, statement: Statement): Promise<string | undefined> =>
  (await breaksInserts(session, statement)) ?? withKey(statement) ?? withoutTrigger(statement)

async function breaksInserts(session: Session, statement: Statement): Promise<string | undefined> {
  const found = brokenInserts(statement)
  if (found === undefined) return undefined
  const { table, withoutDefault, required, hasCheck } = found
  const filled = await withoutNull(session, table)
  const takingNull = required.filter((column) => !filled.has(column))
  const isUnsure = withoutDefault.some((column) => !filled.has(column))
  const texts = [
    ...(withoutDefault.length === 0
      ? []
      : [
          `code whose INSERT leaves out ${withoutDefault.join(', ')} fails${isUnsure ? ', unless the column takes NULL' : ''}`,
        ]),
    ...(takingNull.length === 0
      ? []
      : [
          `code that writes NULL to ${takingNull.join(', ')} fails, and so does an INSERT that leaves it out, unless it has a default`,
        ]),
    ...(hasCheck ? ['code that writes rows which break the check fails'] : []),
  ]
  return texts.length === 0 ? undefined : texts.join('; ')
}

/** The columns of a table that are there and take no NULL. */
async function withoutNull(session: Session, table: string): Promise<ReadonlySet<string>> {
  const [name = '', schema = session.schema] = table.split('.').reverse()
  const [inSchema, values] = session.engine.versionTable.inSchema(schema)
  const rows = await session.rows(
    `SELECT column_name AS name FROM information_schema.columns WHERE table_name = ? AND is_nullable = 'NO' AND ${inSchema}`,
    [name, ...values],
  )
  return new Set(rows.map((row) => String(row.name)))
}

function withKey(statement: Statement): string | undefined {
  const columns = uniqueColumns(statement)
  return columns && `code that writes a second row with the same ${columns.join(', ')} fails`
}

function withoutTrigger(statement: Statement): string | undefined {
  const drop = dropped(statement)
  return drop?.what === 'TRIGGER'
    ? `code that relies on what the trigger ${drop.names.join(', ')} does`
    : undefined
}

/** Longer than in the progress of a run, because people decide by a plan. */
const LONGEST_TEXT = 120

/** The plan says of values by itself whether they are gone. */
const OF_DATA = ', and its data is gone'

const BREAKING = [
  ...['ban-drop-column', 'ban-drop-table', 'renaming-column', 'renaming-table', 'renaming-schema'],
  ...['renaming-enum-value', 'ban-drop-not-null', 'adding-required-field'],
]

/** The tables that a run makes, which nobody else sees before. */
class MadeTables {
  readonly #made = new Set<string>()
  readonly #dropped = new Set<string>()

  constructor(private readonly session: Session) {}

  async note(statement: Statement): Promise<void> {
    const drop = dropped(statement)
    if (drop?.what === 'TABLE') for (const name of drop.names) this.#dropped.add(name)
    const table = createTable(statement)?.table
    if (table === undefined) return
    const { sizeOf } = this.session.engine.effects
    // One that is there is not made: it says IF NOT EXISTS, or fails.
    const isThere = !this.#dropped.has(table) && (await sizeOf(this.session, table.split('.'))) !== undefined
    if (!isThere) this.#made.add(table)
  }

  has(table: string): boolean {
    return this.#made.has(table)
  }
}

interface AboutStatement {
  /** What runs before it, or has run. */
  readonly before: readonly Statement[]
  readonly made: MadeTables
  readonly breaks?: string | undefined
  /** What its way down does not bring back; undefined where it is a way down itself. */
  readonly gone?: readonly Lost[]
}

async function plannedStatement(
  session: Session,
  statement: Statement,
  { before, made, breaks, gone }: AboutStatement,
): Promise<PlannedStatement> {
  const { effectOf, sizeOf } = session.engine.effects
  const effect = effectOf(statement, before)
  const others = effect.tables.filter((table) => !made.has(table))
  const isOfMade = effect.tables.length > 0 || made.has(createTable(statement)?.table ?? '')
  const isNew = isOfMade && others.length === 0
  const { lock, blocks, rows } = isNew ? NO_EFFECT : effect
  const tables: PlannedTable[] = []
  for (const name of others) tables.push({ name, size: await sizeOf(session, name.split('.')) })
  return {
    line: statement.line,
    text: summaryOf(statement, LONGEST_TEXT),
    lock,
    blocks,
    rows,
    tables,
    loses: isNew ? [] : (await lossesOf(session, [statement])).map((loss) => plannedLoss(loss, gone)),
    fails: isNew || rows === 'untouched' ? [] : rowsThatFail(statement, before, session.prefix),
    breaks: isNew ? undefined : breaks,
    isNew,
  }
}

const plannedLoss = (loss: Loss, gone: readonly Lost[] | undefined): PlannedLoss => ({
  ...loss,
  isBroughtBack:
    gone?.every(
      ({ what, name, table }) => what !== loss.what || name !== loss.name || table !== loss.table,
    ) ?? false,
})
