import type { NonTransactional } from './sql/non-transactional.js'
import type { Session } from '../session/session.js'
import { type Step, watched } from '../session/step.js'

/** The state of an index: absent, usable, or left behind by an interrupted build or drop. */
export type IndexState = 'absent' | 'valid' | 'invalid'

/** Returns the state of the index that the statement creates or drops. */
export async function indexState(session: Session, nonTransactional: IndexStatement): Promise<IndexState> {
  const [row] = await session.rows(
    `SELECT i.indisvalid AND i.indisready AND i.indislive AS usable
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.oid = to_regclass(?)`,
    [await qualified(session, nonTransactional)],
  )
  if (row === undefined) return 'absent'
  return row.usable === true ? 'valid' : 'invalid'
}

export async function dropLeftOver(step: Step, nonTransactional: IndexStatement): Promise<void> {
  await cleanUp(step, `DROP INDEX CONCURRENTLY IF EXISTS ${await qualified(step.session, nonTransactional)}`)
}

/**
 * Runs a statement that is not part of the file, and reports the sessions that block it. It waits for every
 * transaction that uses the table.
 */
export const cleanUp = (step: Step, sql: string): Promise<number> =>
  watched(
    step,
    () => step.session.run(sql, 0, step.options.signal),
    (ms, doing) => step.options.report({ kind: 'running', version: step.name, number: 1, ms, ...doing }),
  )

/** Drops the indexes that an interrupted `REINDEX CONCURRENTLY` left under temporary names. */
export async function dropReindexed(step: Step): Promise<void> {
  const rows = await step.session.rows(
    `SELECT format('%I.%I', nspname, relname) AS name
     FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_namespace n ON n.oid = relnamespace
     WHERE NOT indisvalid AND relname ~ '_cc(new|old)[0-9]*$' AND nspname = current_schema()`,
  )
  for (const { name } of rows) {
    const how = { kind: 'dropsIndex', index: String(name), leftBy: 'reindex' } as const
    step.options.report({ kind: 'recovering', version: step.name, how })
    await cleanUp(step, `DROP INDEX CONCURRENTLY IF EXISTS ${String(name)}`)
  }
}

type IndexStatement = Extract<NonTransactional, { readonly kind: 'createIndex' | 'dropIndex' }>

const quoted = (path: readonly string[]): string =>
  path.map((part) => `"${part.replaceAll('"', '""')}"`).join('.')

/** Returns the qualified name of an index, which is in the schema of its table. */
async function qualified(session: Session, nonTransactional: IndexStatement): Promise<string> {
  const index = quoted(nonTransactional.paths.name)
  if (nonTransactional.paths.name.length > 1) return index
  if (nonTransactional.kind === 'dropIndex') return session.prefix + index
  const [row] = await session.rows(
    `SELECT format('%I.', nspname) AS prefix FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
     WHERE pg_class.oid = to_regclass(?)`,
    [quoted(nonTransactional.paths.table)],
  )
  return (typeof row?.prefix === 'string' ? row.prefix : session.prefix) + index
}
