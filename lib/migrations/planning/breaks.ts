import { lintFile } from '../lint/lint.js'
import type { ResolvedOptions } from '../session/options.js'
import type { Session } from '../session/session.js'
import { uniqueColumns } from '../sql/breaking-rows.js'
import { brokenInserts } from '../sql/broken-inserts.js'
import type { Script, Statement } from '../sql/statements.js'
import { type DroppedTrigger, droppedTrigger } from './dropped-trigger.js'

/**
 * For each statement why code that runs now fails after it, whether or not its file accepts that.
 * @param before - what runs before the file, or has run.
 */
export async function breakingIn(
  session: Session,
  before: readonly Statement[],
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
    breaking.push(why?.replace(OF_DATA, '') ?? (await brokenBy(session, statement, before)))
  }
  return breaking
}

/** Lint has nothing against these: it is how a contract ends. */
const brokenBy = async (
  session: Session,
  statement: Statement,
  before: readonly Statement[],
): Promise<string | undefined> =>
  (await breaksInserts(session, statement)) ??
  withKey(statement) ??
  withoutTrigger(await droppedTrigger(session, statement, before))

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

function withoutTrigger(trigger: DroppedTrigger | undefined): string | undefined {
  if (trigger === undefined) return undefined
  const { name, table, when } = trigger
  const place = table === undefined ? '' : ` of ${table}`
  return `code that relies on what the trigger ${name}${place} does${when === undefined ? '' : ` ${when}`}`
}

/** The plan says of values by itself whether they are gone. */
const OF_DATA = ', and its data is gone'

/** The rules of lint about statements that break code which runs now. */
export const BREAKING = [
  ...['ban-drop-column', 'ban-drop-table', 'renaming-column', 'renaming-table', 'renaming-schema'],
  ...['renaming-enum-value', 'ban-drop-not-null', 'adding-required-field'],
]
