import type { Alone } from './alone.js'
import type { Session } from './session.js'

/** What PostgreSQL knows of an index: none, usable, or left behind by a build or a drop that was cut off. */
export type IndexState = 'absent' | 'valid' | 'invalid'

/** The state of the index that `alone` makes or drops. */
export async function indexState(session: Session, alone: IndexStatement): Promise<IndexState> {
  const [row] = await session.rows(
    `SELECT i.indisvalid AND i.indisready AND i.indislive AS usable
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.oid = to_regclass(?)`,
    [await qualified(session, alone)],
  )
  if (row === undefined) return 'absent'
  return row.usable === true ? 'valid' : 'invalid'
}

export async function dropLeftOver(session: Session, alone: IndexStatement): Promise<void> {
  await session.run(`DROP INDEX CONCURRENTLY IF EXISTS ${await qualified(session, alone)}`, 0)
}

/** `REINDEX CONCURRENTLY` builds its indexes under names of their own and leaves those behind. */
export async function dropReindexed(session: Session): Promise<void> {
  const rows = await session.rows(
    `SELECT format('%I.%I', nspname, relname) AS name
     FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_namespace n ON n.oid = relnamespace
     WHERE NOT indisvalid AND relname ~ '_cc(new|old)[0-9]*$' AND nspname = current_schema()`,
  )
  for (const { name } of rows) await session.run(`DROP INDEX CONCURRENTLY IF EXISTS ${String(name)}`, 0)
}

type IndexStatement = Extract<Alone, { readonly kind: 'createIndex' | 'dropIndex' }>

const quoted = (name: string): string =>
  name
    .split('.')
    .map((part) => `"${part.replaceAll('"', '""')}"`)
    .join('.')

/** An index lives in the schema of its table, which the statement may have named. */
async function qualified(session: Session, alone: IndexStatement): Promise<string> {
  if (alone.index.includes('.')) return quoted(alone.index)
  if (alone.kind === 'dropIndex') return session.prefix + quoted(alone.index)
  const [row] = await session.rows(
    'SELECT relnamespace::regnamespace::text AS schema FROM pg_class WHERE oid = to_regclass(?)',
    [quoted(alone.table)],
  )
  return typeof row?.schema === 'string'
    ? `${row.schema}.${quoted(alone.index)}`
    : session.prefix + quoted(alone.index)
}
