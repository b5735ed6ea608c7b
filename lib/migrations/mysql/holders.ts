import type { Activity, Row } from '../session/session.js'

type Query = (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>

/**
 * Returns the current activity of the connection `id` and the connections that block it.
 *
 * @param hasGivenUp - true if it has just stopped waiting. The same transactions are probably still open.
 */
export async function activityOf(id: number, hasGivenUp: boolean, query: Query): Promise<Activity> {
  const ask = (sql: string): Promise<readonly Row[]> => query(sql, [id]).catch(() => [])
  const [row] = await query('SELECT STATE AS state FROM information_schema.PROCESSLIST WHERE ID = ?', [id])
  const phase = typeof row?.state === 'string' && row.state !== '' ? row.state : undefined
  const [transaction] = await ask(WAITS)
  if (!hasGivenUp && !/^Waiting for .*lock/i.test(phase ?? '') && transaction === undefined)
    return { blockers: undefined, phase }
  const known = await ask(HOLDERS)
  if (known.length > 0) return { blockers: known.map(textOf).join(' and '), phase }
  const open = await ask(OPEN)
  const who = open.map(textOf).join(' or ')
  return { blockers: who === '' ? undefined : `${who}, probably`, phase }
}

const textOf = ({ id, name, host, seconds, state }: Row): string => {
  const since = seconds === null ? [] : [`transaction open for ${Number(seconds)} s`]
  return `connection ${String(id)} (${[`user ${String(name)} from ${String(host)}`, ...since, String(state)].join(', ')})`
}

/** Selects a row if the connection waits for a row lock. */
const WAITS = `SELECT 1 AS one FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT' AND trx_mysql_thread_id = ?`

const WHO = `p.ID AS id, p.USER AS name, p.HOST AS host, LOWER(p.COMMAND) AS state,
  TIMESTAMPDIFF(SECOND, x.trx_started, NOW()) AS seconds`

/** Selects the connections that hold the lock. MariaDB only shows them if performance_schema is enabled. */
const HOLDERS = `SELECT DISTINCT ${WHO} FROM performance_schema.metadata_locks AS wanted
  JOIN performance_schema.threads AS waiting
    ON waiting.THREAD_ID = wanted.OWNER_THREAD_ID AND waiting.PROCESSLIST_ID = ?
  JOIN performance_schema.metadata_locks AS held ON held.LOCK_STATUS = 'GRANTED'
    AND held.OBJECT_TYPE = wanted.OBJECT_TYPE AND held.OBJECT_SCHEMA = wanted.OBJECT_SCHEMA
    AND held.OBJECT_NAME = wanted.OBJECT_NAME AND held.OWNER_THREAD_ID <> wanted.OWNER_THREAD_ID
  JOIN performance_schema.threads AS holding ON holding.THREAD_ID = held.OWNER_THREAD_ID
  JOIN information_schema.PROCESSLIST AS p ON p.ID = holding.PROCESSLIST_ID
  LEFT JOIN information_schema.INNODB_TRX AS x ON x.trx_mysql_thread_id = p.ID
  WHERE wanted.LOCK_STATUS = 'PENDING'`

/** Selects the oldest transactions of the database. Requires the PROCESS privilege. */
const OPEN = `SELECT ${WHO} FROM information_schema.INNODB_TRX AS x
  JOIN information_schema.PROCESSLIST AS p ON p.ID = x.trx_mysql_thread_id
  WHERE p.ID <> ? AND (p.DB = DATABASE() OR p.DB IS NULL) ORDER BY x.trx_started LIMIT 3`
