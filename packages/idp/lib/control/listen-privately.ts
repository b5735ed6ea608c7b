import { chmodSync, lstatSync, mkdirSync, unlinkSync } from 'node:fs'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { Failure } from '../idp-failure.js'

/**
 * Listens on a unix socket that only this user can open. Replaces the socket of a killed process.
 *
 * @param who - the name of the listener in errors.
 * @throws Failure if another process listens, if the folder belongs to another user, or if the system has
 *   no numeric users.
 */
export async function listenPrivately(server: Server, path: string, who: string): Promise<void> {
  if (process.getuid === undefined)
    throw new Failure(`${who} needs Linux or macOS: on Windows, run it in WSL`)
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(folder)
  if (uid !== process.getuid() || (mode & 0o022) !== 0)
    throw new Failure(`${folder} can be written by others: restrict it (chmod 700), then run this again`)
  if (await responds(path))
    throw new Failure(`${who} is already running at ${path}: use that one, or stop it first`)
  const old = process.umask(0o177)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, () => {
        server.off('error', reject)
        resolve()
      })
    })
  } finally {
    process.umask(old)
  }
  chmodSync(path, 0o600)
}

/** Returns true if a process listens. Removes a stale socket. */
async function responds(path: string): Promise<boolean> {
  const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => (socket.destroy(), resolve(undefined)))
    socket.once('error', resolve)
  })
  if (error === undefined) return true
  if (error.code === 'ECONNREFUSED') unlinkSync(path)
  return false
}
