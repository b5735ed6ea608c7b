import { execFileSync } from 'node:child_process'

/**
 * What the command line prints that `ashlar migrate adopt` says, as it is printed, but for the question for a
 * password.
 */
export function dumped(url: string, command: string): string {
  const password = decodeURIComponent(new URL(url).password)
  const env = { ...process.env, MYSQL_PWD: password, PGPASSWORD: password }
  const line = command.replace(' --password ', ' ').replace(/ > schema\.sql$/, '')
  return execFileSync('sh', ['-c', line], { encoding: 'utf8', env })
}
