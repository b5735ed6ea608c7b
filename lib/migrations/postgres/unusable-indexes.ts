import type { Session } from '../session/session.js'

/** Indexes of the module's schema that no query can use, one line each. */
export async function unusableIndexes(session: Session): Promise<readonly string[]> {
  const rows = await session.rows(
    `SELECT format('%I.%I', nspname, relname) AS name, ${BUSY} AS busy
     FROM pg_index i JOIN pg_class c ON c.oid = indexrelid JOIN pg_namespace n ON n.oid = relnamespace
     WHERE NOT indisvalid AND nspname = ? AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid)
     ORDER BY 1`,
    [session.schema],
  )
  return rows.map(({ name, busy }) =>
    busy === true
      ? `the index ${String(name)} is being built or dropped by a session now: look again when it has ended`
      : `the index ${String(name)} is INVALID: no query uses it, and every write pays for it; REINDEX INDEX CONCURRENTLY builds it anew`,
  )
}

/**
 * Whether a session works on an index CONCURRENTLY. The locks that it holds show this to every user: a build locks the
 * table, a drop also locks the index. Vacuum takes the same lock on the table and builds nothing.
 */
const BUSY = `EXISTS (
  SELECT FROM pg_locks l
  WHERE l.locktype = 'relation' AND l.mode = 'ShareUpdateExclusiveLock' AND l.granted
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (l.relation = i.indexrelid
      OR l.relation = i.indrelid AND EXISTS (
        SELECT FROM pg_stat_progress_create_index p WHERE p.pid = l.pid AND coalesce(p.index_relid, i.indexrelid) = i.indexrelid)))`
