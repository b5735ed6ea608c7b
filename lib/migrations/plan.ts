import { isOfFramework } from './files/migration-files.js'
import { readSet } from './migration-set.js'
import { refuseForeign } from './histories/foreign.js'
import { withSession } from './open-session.js'
import type { ResolvedOptions } from './session/options.js'
import type { Session } from './session/session.js'
import { readVersions } from './session/version-table.js'
import { backfillOf } from './sql/backfill.js'
import { createTable, dropped } from './sql/statement-shape.js'
import { type Statement, summaryOf } from './sql/statements.js'
import { type Effect, NO_EFFECT, type TableSize } from './session/effect.js'

/** A statement that the next run sends. */
export interface PlannedStatement extends Omit<Effect, 'tables'> {
  /** The line in its file, from 1. */
  readonly line: number
  /** Its first words, without literals. */
  readonly text: string
  /** Without those that this run makes. */
  readonly tables: readonly PlannedTable[]
  /** It makes a table, or works on tables that this run makes: nobody can wait for them. */
  readonly isNew: boolean
}

/** A table that the next versions touch. */
export interface PlannedTable {
  readonly name: string
  /** Undefined for a table that is not there yet. */
  readonly size: TableSize | undefined
}

/** A version that the next run applies. */
export interface PlannedVersion {
  /** `0002_widgets`. */
  readonly name: string
  /** Rows of a chunk, for a backfill. */
  readonly chunk: number | undefined
  /** Whether its files are those of the framework. */
  readonly isFramework: boolean
  readonly statements: readonly PlannedStatement[]
}

/** What the next `up` would do, by the rules of the engine and the sizes of the tables. Changes nothing. */
export async function plan(options: ResolvedOptions): Promise<readonly PlannedVersion[]> {
  const { migrations } = await readSet(options.files, options.engine, options.statementTimeoutMs)
  return withSession(options, 'read', async (session) => {
    const rows = await readVersions(session)
    await refuseForeign(session, rows)
    const done = rows.filter(({ dirty }) => !dirty).map(({ version }) => version)
    const versions: PlannedVersion[] = []
    const made = new MadeTables(session)
    for (const { version, name, script } of migrations) {
      if (done.includes(version)) continue
      const statements: PlannedStatement[] = []
      for (const statement of script.statements) {
        await made.note(statement)
        statements.push(await plannedStatement(session, statement, made))
      }
      const isFramework = isOfFramework(version)
      versions.push({ name, chunk: backfillOf(script)?.chunk, isFramework, statements })
    }
    return versions
  })
}

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

async function plannedStatement(
  session: Session,
  statement: Statement,
  made: MadeTables,
): Promise<PlannedStatement> {
  const { effectOf, sizeOf } = session.engine.effects
  const effect = effectOf(statement)
  const others = effect.tables.filter((table) => !made.has(table))
  const isOfMade = effect.tables.length > 0 || made.has(createTable(statement)?.table ?? '')
  const isNew = isOfMade && others.length === 0
  const { lock, blocks, rows } = isNew ? NO_EFFECT : effect
  const tables: PlannedTable[] = []
  for (const name of others) tables.push({ name, size: await sizeOf(session, name.split('.')) })
  return {
    line: statement.line,
    text: summaryOf(statement),
    lock,
    blocks,
    rows,
    tables,
    isNew,
  }
}
