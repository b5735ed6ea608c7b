import { shellWord } from '../../text/shell-word.js'
import type { DumpSource } from '../session/engine.js'
import type { Session } from '../session/session.js'

/**
 * Returns the command line of the dump program, which is `mariadb-dump` on MariaDB. It prompts for a
 * password.
 */
export async function mysqlDump(session: Session, { url, name, tables }: DumpSource): Promise<string> {
  const [server] = await session.rows('SELECT VERSION() AS version')
  const parts = await session.rows(
    `SELECT 'routines' AS part FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()
     UNION SELECT 'events' FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE()`,
  )
  const socket = url.searchParams.get('socketPath')
  const words = [
    /mariadb/i.test(String(server?.version)) ? 'mariadb-dump' : 'mysqldump',
    // Without the last two options, it requires privileges that a user of one database may lack.
    ...['--no-data', '--skip-comments', '--skip-add-drop-table', '--no-tablespaces', '--skip-lock-tables'],
    // These options require further privileges, so they are only used if there are such objects.
    ...parts.map(({ part }) => `--${String(part)}`),
    ...tables.map((table) => `--ignore-table=${name}.${table}`),
    ...(socket === null
      ? [
          // The client would use a socket for localhost, but the driver does not.
          ...['--protocol=tcp', `--host=${decodeURIComponent(url.hostname) || 'localhost'}`],
          `--port=${url.port || '3306'}`,
        ]
      : [`--socket=${socket}`]),
    ...(url.username === '' ? [] : [`--user=${decodeURIComponent(url.username)}`]),
    ...(url.password === '' ? [] : ['--password']),
    name,
  ]
  return words.map(shellWord).join(' ')
}
