import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { Failure } from '../idp-failure.js'
import { isLoopback } from '../clients/origins.js'

const DEFAULT_TCP = '127.0.0.1:15353'

/** The location of the daemon, which the `idp` commands use, too. */
export interface EdgeHome {
  readonly folder: string
  readonly socketPath: string
  readonly host: string
  readonly port: number
}

/**
 * Returns the folder in `DEVEDGE_HOME` and the address in `DEVEDGE_ADDR`.
 *
 * @throws Failure if other machines can reach the address.
 */
export function edgeHome(env: NodeJS.ProcessEnv = process.env): EdgeHome {
  const folder = resolve(env['DEVEDGE_HOME'] || join(env['HOME'] || homedir(), '.devedge'))
  const address = env['DEVEDGE_ADDR'] || DEFAULT_TCP
  const [, name = '', digits = ''] = /^(\[[0-9a-f:.]+\]|[^\s[\]/:]+):(\d{1,5})$/i.exec(address) ?? []
  const port = Number(digits)
  if (name === '' || port > 65_535)
    throw new Failure(`DEVEDGE_ADDR "${address}" is not host:port: write it like ${DEFAULT_TCP}`)
  if (!isLoopback(name))
    throw new Failure(`DEVEDGE_ADDR "${address}" is not on this machine: use an address like ${DEFAULT_TCP}`)
  return { folder, socketPath: join(folder, 'devedged.sock'), host: name.replaceAll(/[[\]]/g, ''), port }
}
