import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { Failure } from '../../errors/failure.js'

/** An address at which the daemon may listen. */
export type DaemonAddress = { readonly socketPath: string } | { readonly host: string; readonly port: number }

const DEFAULT_TCP = '127.0.0.1:15353'

/**
 * Returns the addresses to try for the daemon, in order: the socket in `DEVEDGE_HOME` (default `~/.devedge`),
 * then TCP at `DEVEDGE_ADDR` (default `127.0.0.1:15353`).
 */
export function daemonAddresses(env: NodeJS.ProcessEnv = process.env): readonly DaemonAddress[] {
  const home = env.DEVEDGE_HOME || join(env.HOME || homedir(), '.devedge')
  const tcp = env.DEVEDGE_ADDR || DEFAULT_TCP
  const [, host = '', port = ''] = /^(?:\[(?=.*:))?([^\s[\]/]+?)\]?:(\d{1,5})$/.exec(tcp) ?? []
  if (host === '' || Number(port) < 1 || Number(port) > 65_535)
    throw new Failure('input', `DEVEDGE_ADDR "${tcp}" is not host:port: write it like ${DEFAULT_TCP}`)
  return [{ socketPath: join(resolve(home), 'devedged.sock') }, { host, port: Number(port) }]
}

/** Formats the address for messages. */
export const showAddress = (address: DaemonAddress): string =>
  'socketPath' in address ? address.socketPath : `${address.host}:${address.port}`
