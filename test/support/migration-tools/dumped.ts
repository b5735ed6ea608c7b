import { execFileSync } from 'node:child_process'

/**
 * Runs the dump command that `ashlar migrate adopt` prints, without the password prompt, and returns the
 * output.
 */
export function dumped(url: string, command: string): string {
  const password = decodeURIComponent(new URL(url).password)
  const env = { ...process.env, MYSQL_PWD: password, PGPASSWORD: password }
  const line = command.replace(' --password ', ' ').replace(/ > schema\.sql$/, '')
  return execFileSync('sh', ['-c', line], { encoding: 'utf8', env })
}
