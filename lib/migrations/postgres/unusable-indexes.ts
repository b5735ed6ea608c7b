import type { UnusableIndex } from '../messages/differences.js'
import type { Session } from '../session/session.js'
import { type AppliedVersion, isGoingDown } from '../session/version-table.js'
import { splitStatements } from '../sql/split-statements.js'
import { nonTransactionalOf } from './sql/non-transactional.js'
import { postgresSyntax } from './sql/syntax.js'

/** Returns the indexes of the module's schema that no query can use. */
export async function unusableIndexes(
  session: Session,
  versions: readonly AppliedVersion[],
): Promise<readonly UnusableIndex[]> {
  const rows = await session.rows(
    `SELECT format('%I.%I', nspname, relname) AS name, relname AS index, ${BUSY} AS busy
     FROM pg_index i JOIN pg_class c ON c.oid = indexrelid JOIN pg_namespace n ON n.oid = relnamespace
     WHERE NOT indisvalid AND nspname = ? AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid)
     ORDER BY 1`,
    [session.schema],
  )
  const dirty = versions.filter((one) => one.dirty)
  return rows.map(({ name, index, busy }) => {
    if (busy === true) return { kind: 'busyIndex', index: String(name) }
    const leftBy = dirty.find((one) => leaves(one, String(index)))?.name
    return {
      kind: 'invalidIndex',
      index: String(name),
      leftBy,
      isOfReindex: OF_REINDEX.test(String(index)),
    }
  })
}

/** Matches the temporary names of REINDEX CONCURRENTLY. */
const OF_REINDEX = /_cc(new|old)\d*$/

/** Returns true if a failed run of the version left the index behind. */
function leaves(version: AppliedVersion, index: string): boolean {
  const sql = isGoingDown(version) ? version.downSql : version.upSql
  const [only] = splitStatements(sql ?? '', postgresSyntax).statements
  const found = only && nonTransactionalOf(only)
  if (found?.kind === 'reindex') return OF_REINDEX.test(index)
  return (found?.kind === 'createIndex' || found?.kind === 'dropIndex') && found.paths.name.at(-1) === index
}

/**
 * A condition that is true if a session builds or drops an index CONCURRENTLY. Every user can see this from
 * the locks: a build locks the table, a drop also locks the index. Vacuum takes the same lock on the table
 * but builds nothing.
 */
const BUSY = `EXISTS (
  SELECT FROM pg_locks l
  WHERE l.locktype = 'relation' AND l.mode = 'ShareUpdateExclusiveLock' AND l.granted
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (l.relation = i.indexrelid
      OR l.relation = i.indrelid AND EXISTS (
        SELECT FROM pg_stat_progress_create_index p WHERE p.pid = l.pid AND coalesce(p.index_relid, i.indexrelid) = i.indexrelid)))`
