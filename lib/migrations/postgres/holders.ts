import { hostname } from 'node:os'
import type { Row, Working } from '../session/session.js'

const LONGEST_NAME = 63

/** Returns a name such as `ashlar migrate up 0003 inventory db1:1234`. The server truncates longer names. */
export function applicationName(module: string | undefined, step?: Working['step']): string {
  const place = `${hostname()}:${process.pid}`
  const what =
    step === undefined
      ? ['ashlar migrate']
      : ['ashlar migrate', step.direction, String(step.version).padStart(4, '0')]
  const room = Math.max(0, LONGEST_NAME - what.join(' ').length - place.length - 2)
  return [...what, ...(module === undefined || room === 0 ? [] : [module.slice(0, room)]), place].join(' ')
}

/** Selects sessions by a condition on the locks that they hold. */
export const holders = (condition: string): string =>
  `SELECT pid, application_name AS name, usename AS "user", host(client_addr) AS address,
          extract(epoch FROM clock_timestamp() - backend_start)::integer AS seconds
   FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE ${condition} LIMIT 1`

/** Describes a session from its row of `holders`. */
export function holderOf({ pid, name, user, address, seconds }: Row): Working {
  const { who, process, step } = nameOfHolder(String(name))
  // Another user's address and times are hidden from ordinary users.
  const where = typeof address === 'string' ? ` from ${address}` : ''
  const since = typeof seconds === 'number' ? `, for ${seconds} s` : ''
  return {
    holder: `${who} (${process}user ${String(user)}${where}, PostgreSQL process ${String(pid)}${since})`,
    session: Number(pid),
    step,
  }
}

/** Parses such a name: the session's user, its process and host, and its version. */
function nameOfHolder(application: string): {
  readonly who: string
  readonly process: string
  readonly step: Working['step']
} {
  const [, direction, version, module, host, pid] =
    /^ashlar migrate (?:(up|down) (\d{4}) )?(?:(.+) )?(\S+):(\d+)$/.exec(application) ?? []
  if (host === undefined || pid === undefined)
    return { who: application || 'a session', process: '', step: undefined }
  const what = module === undefined ? '' : ` of the module ${module}`
  return {
    who: `another \`ashlar migrate\`${what} on ${host}`,
    process: `process ${pid}, `,
    step: direction === 'up' || direction === 'down' ? { direction, version: Number(version) } : undefined,
  }
}

/** Selects the sessions that block another one, and the progress of its index build. */
export const ACTIVITY = `SELECT
  (SELECT string_agg(format('process %s (%s)', pid, concat_ws(', ',
     coalesce(nullif(application_name, ''), nullif(backend_type, 'client backend'), 'unnamed'), 'user ' || usename,
     'transaction open for ' || extract(epoch FROM clock_timestamp() - xact_start)::integer || ' s', state)), ' and ')
   FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids($1))) AS blockers,
  (SELECT concat_ws(', ', phase, round(100.0 * blocks_done / nullif(blocks_total, 0)) || ' % of the blocks',
     round(100.0 * tuples_done / nullif(tuples_total, 0)) || ' % of the rows')
   FROM pg_stat_progress_create_index WHERE pid = $1) AS phase`
