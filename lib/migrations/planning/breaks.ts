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
 * Returns, for each statement, the reason why running code fails after it, even if the file accepts the
 * finding.
 *
 * @param before - the statements that run earlier or have already run.
 */
export async function breakingIn(
  session: Session,
  before: readonly Statement[],
  { statements, problem }: Script,
  { engine, statementTimeoutMs }: ResolvedOptions,
): Promise<readonly (Breaks | undefined)[]> {
  // Use the statement's index as its line, because a line may contain several statements.
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

/** Returns breaks that lint does not report, because a contract phase legitimately causes them. */
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

/** Returns the NOT NULL columns of an existing table, with true if the database sets them. */
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
