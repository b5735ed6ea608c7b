import { createHash } from 'node:crypto'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'

/** The maximum length of a unix socket's path that every system supports. */
const LONGEST_PATH = 100

/**
 * Returns the socket of the provider with this state. If the path of the state folder is too long, the socket
 * is in a folder that only this user can access.
 */
export function controlSocketOf(stateFolder: string): string {
  const path = join(resolve(stateFolder), 'control.sock')
  if (Buffer.byteLength(path) <= LONGEST_PATH) return path
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16)
  return join(tmpdir(), `ashlar-idp-${userInfo().uid}`, `${name}.sock`)
}
