import { execFileSync } from 'node:child_process'
import type { Dialect } from '../../../lib/migrations/index.js'

/** What the command prints that `ashlar migrate adopt` says, with the connection of the database. */
export function dumped(url: string, dialect: Dialect, command: string): string {
  const { hostname, port, username, password, pathname } = new URL(url)
  const name = pathname.slice(1)
  const [program = '', ...args] = command
    .replace(/ > schema\.sql$/, '')
    .replace('<database>', name)
    .split(' ')
    .map((word) => word.replaceAll("'", ''))
  const where =
    dialect === 'postgres'
      ? [url]
      : [`--host=${hostname}`, `--port=${port}`, `--user=${decodeURIComponent(username)}`, name]
  const env = { ...process.env, MYSQL_PWD: decodeURIComponent(password) }
  return execFileSync(program, [...args, ...where], { encoding: 'utf8', env })
}
