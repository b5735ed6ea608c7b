import { readSet } from './migration-set.js'
import { refuseForeign } from './histories/foreign.js'
import { withSession } from './open-session.js'
import type { ResolvedOptions } from './session/options.js'
import type { Session } from './session/session.js'
import { readVersions } from './session/version-table.js'
import { backfillOf } from './sql/backfill.js'
import { createTable } from './sql/statement-shape.js'
import { type Statement, summaryOf } from './sql/statements.js'
import { type Effect, NO_EFFECT, type TableSize } from './session/effect.js'

/** A statement that the next run sends. */
export interface PlannedStatement extends Omit<Effect, 'tables'> {
  /** The line in its file, from 1. */
  readonly line: number
  /** Its first words, without literals. */
  readonly text: string
  readonly tables: readonly PlannedTable[]
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
    for (const { version, name, script } of migrations) {
      if (done.includes(version)) continue
      const statements: PlannedStatement[] = []
      const created = new Set<string>()
      for (const statement of script.statements) {
        statements.push(await plannedStatement(session, statement, created))
        const table = createTable(statement)?.table
        if (table !== undefined) created.add(table)
      }
      versions.push({ name, chunk: backfillOf(script)?.chunk, statements })
    }
    return versions
  })
}

/** @param created - tables that the file makes, which nobody else sees yet. */
async function plannedStatement(
  session: Session,
  statement: Statement,
  created: ReadonlySet<string>,
): Promise<PlannedStatement> {
  const { effectOf, sizeOf } = session.engine.effects
  const effect = effectOf(statement)
  const isOwn = effect.tables.length > 0 && effect.tables.every((table) => created.has(table))
  const { tables, ...rest } = isOwn ? NO_EFFECT : effect
  const sized: PlannedTable[] = []
  for (const name of tables) sized.push({ name, size: await sizeOf(session, name.split('.')) })
  return { line: statement.line, text: summaryOf(statement), ...rest, tables: sized }
}
