import { lintFile } from '../lint/lint-file.js'
import { BREAKING } from '../messages/lint-messages.js'
import type { Breaks } from '../messages/break-messages.js'
import type { ResolvedOptions } from '../session/migrate-options.js'
import type { Session } from '../session/session.js'
import { uniqueColumns } from '../sql/breaking-rows.js'
import { brokenInserts } from '../sql/broken-inserts.js'
import type { Script, Statement } from '../sql/split-statements.js'
import { droppedTrigger } from './dropped-trigger.js'

/**
 * For each statement why code that runs now fails after it, whether or not its file accepts that.
 * @param before - what runs before the file, or has run.
 */
export async function breakingIn(
  session: Session,
  before: readonly Statement[],
  { statements, problem }: Script,
  { engine, statementTimeoutMs }: ResolvedOptions,
): Promise<readonly (Breaks | undefined)[]> {
  // A line can have several statements, so each counts as one.
  const numbered = statements.map((statement, at) => ({ ...statement, line: at }))
  const findings = lintFile({
    name: '',
    engine: engine.lint,
    direction: 'up',
    script: { statements: numbered, problem, comments: [] },
    statementTimeoutMs,
  })
  const breaking: (Breaks | undefined)[] = []
  for (const [at, statement] of statements.entries()) {
    const rules = findings.filter(({ line }) => line === at).map(({ rule }) => rule)
    const rule = RULES_THAT_BREAK.find((name) => rules.includes(name))
    breaking.push(
      rule === undefined
        ? await brokenBy(session, statement, before)
        : { kind: 'rule', rule, text: BREAKING[rule] },
    )
  }
  return breaking
}

/** Lint has nothing against these: it is how a contract ends. */
async function brokenBy(
  session: Session,
  statement: Statement,
  before: readonly Statement[],
): Promise<Breaks | undefined> {
  const inserts = await breaksInserts(session, statement)
  if (inserts !== undefined) return inserts
  const columns = uniqueColumns(statement)
  if (columns !== undefined) return { kind: 'unique', columns }
  const trigger = await droppedTrigger(session, statement, before)
  return trigger && { kind: 'trigger', ...trigger }
}

async function breaksInserts(session: Session, statement: Statement): Promise<Breaks | undefined> {
  const found = brokenInserts(statement)
  if (found === undefined) return undefined
  const { table, hasCheck } = found
  const filled = await withoutNull(session, table)
  const lost = found.redefined.filter((column) => filled.get(column) === true)
  const withoutDefault = [...found.withoutDefault, ...lost]
  const required = found.required.filter((column) => !filled.has(column))
  const isUnsure = withoutDefault.some((column) => !filled.has(column))
  return withoutDefault.length + required.length > 0 || hasCheck
    ? { kind: 'inserts', withoutDefault, isUnsure, required, hasCheck }
    : undefined
}

/** The existing columns of a table that take no NULL, and whether the database fills them. */
async function withoutNull(session: Session, table: string): Promise<ReadonlyMap<string, boolean>> {
  const [name = '', schema = session.schema] = table.split('.').reverse()
  const [inSchema, values] = session.engine.versionTable.inSchema(schema)
  const { fillsColumn: isFilled } = session.engine
  const rows = await session.rows(
    `SELECT column_name AS name, CASE WHEN ${isFilled} THEN 1 ELSE 0 END AS filled FROM information_schema.columns WHERE table_name = ? AND is_nullable = 'NO' AND ${inSchema}`,
    [name, ...values],
  )
  return new Map(rows.map((row) => [String(row.name), Number(row.filled) === 1]))
}

const RULES_THAT_BREAK = Object.keys(BREAKING) as (keyof typeof BREAKING)[]
