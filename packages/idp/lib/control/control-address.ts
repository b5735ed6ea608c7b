import { createHash } from 'node:crypto'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'

/** The maximum length of a unix socket's path on every system. */
const LONGEST_PATH = 100

/**
 * The socket of the provider that has this state. A state folder with a long path has it in a folder of this
 * user alone.
 */
export function controlSocketOf(stateFolder: string): string {
  const path = join(resolve(stateFolder), 'control.sock')
  if (Buffer.byteLength(path) <= LONGEST_PATH) return path
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16)
  return join(tmpdir(), `ashlar-idp-${userInfo().uid}`, `${name}.sock`)
}
