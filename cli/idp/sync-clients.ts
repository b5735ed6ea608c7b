import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Failure } from '../errors/failure.js'
import { closeToOthers, readWholeFile, writeWholeFile } from '../output/whole-file.js'
import { appsOf, clientsOf, nameableRoutes } from './clients.js'
import { readClientsFile, toClientsFile } from './to-clients-file.js'
import { type DaemonAddress, showAddress } from './routes/daemon-address.js'
import { type ClientsDiff, diffClients } from './clients-diff.js'
import { LOCAL_FILES, readLocalConfig } from './local-config.js'
import type { Route } from './routes/route.js'
import { findRegistry, type Registry, usableRoutes } from './routes/route-registry.js'

export interface SyncRequest {
  /** The base folder of relative paths. */
  readonly folder: string
  /** A file of routes. Default: the `LOCAL_FILES` of the folder. */
  readonly config?: string | undefined
  readonly out: string
  /** True to only compare the file and write nothing. */
  readonly check: boolean
  readonly addresses: readonly DaemonAddress[]
  /** Receives the notes on local files, even if the sync fails. */
  readonly fileNotes?: string[]
  /** The timeout in milliseconds of each call to the daemon. Default: 5,000. */
  readonly timeoutMs?: number
}

/** The findings and the result of a sync. */
export interface SyncReport extends ClientsDiff {
  readonly out: string
  /** `differs`: the file is out of date and was not written. */
  readonly state: 'written' | 'unchanged' | 'differs'
  readonly clients: readonly string[]
  /** The sources with their apps. */
  readonly sources: readonly { readonly source: string; readonly apps: readonly string[] }[]
  readonly notes: readonly string[]
}

/**
 * Writes the apps of the daemon and of local files to the clients file. It replaces the whole file and
 * produces the same bytes for the same apps. Everything is read and checked before anything is written.
 */
export async function syncClients(request: SyncRequest): Promise<SyncReport> {
  const { folder, out, addresses, fileNotes = [] } = request
  const files = localFiles(request)
  const local = files.map((file) => ({ file, ...readLocalConfig(resolve(folder, file), file, fileNotes) }))
  const registry = await findRegistry(addresses, request.timeoutMs)
  const leftOut: string[] = []
  const leaveOut = (why: string) => leftOut.push(`an app is left out: ${why}`)
  const usable = registry === undefined ? [] : usableRoutes(registry, leaveOut)
  const registered = nameableRoutes(usable, leaveOut)
  const named = local.map(({ file, routes: all }) => ({ file, routes: nameableRoutes(all, leaveOut) }))
  const routes = [...registered, ...named.flatMap((config) => config.routes)]
  const clients = clientsOf(routes)
  if (clients.length === 0) throw nothingFound(request, registry, files, routes, leftOut)

  const text = toClientsFile(clients)
  const target = resolve(folder, out)
  const before = readWholeFile(target, out)
  const listed = before === undefined ? new Map<string, unknown>() : readClientsFile(before)
  const notes = [...daemonNotes(registry, addresses), ...fileNotes, ...leftOut]
  if (listed === undefined) notes.push(`${out} was not a list of clients: all of it is replaced`)
  const state = before === text ? 'unchanged' : request.check ? 'differs' : 'written'
  if (state === 'written') writeWholeFile(target, text, out)
  if (state === 'unchanged' && !request.check && closeToOthers(target, out))
    notes.push(`${out} was readable by others: now only its owner can read it`)
  return {
    out,
    state,
    clients: clients.map(({ client_id }) => client_id),
    ...diffClients(listed ?? new Map<string, unknown>(), clients),
    sources: [
      ...(registry === undefined ? [] : [{ source: nameOf(registry), apps: namesIn(registered) }]),
      ...named.map((config) => ({ source: config.file, apps: namesIn(config.routes) })),
    ],
    notes,
  }
}

function localFiles({ folder, config }: SyncRequest): readonly string[] {
  if (config !== undefined) return [config]
  return LOCAL_FILES.filter((file) => existsSync(join(folder, file)))
}

const namesIn = (routes: readonly Route[]): readonly string[] => appsOf(routes).map(({ name }) => name)

const nameOf = ({ address }: Registry): string => `the daemon at ${showAddress(address)}`

function daemonNotes(registry: Registry | undefined, addresses: readonly DaemonAddress[]): string[] {
  if (registry === undefined)
    return [
      `${noDaemon(addresses)}: only local files are used; start it (devedged, or "npx ashlar-idp edge") to include its apps`,
    ]
  if (registry.routes.length === 0) return [`${nameOf(registry)} has no routes: only local files are used`]
  return []
}

const noDaemon = (addresses: readonly DaemonAddress[]): string =>
  `no daemon listens at ${addresses.map(showAddress).join(' or ')}`

function nothingFound(
  { config, folder, out }: SyncRequest,
  registry: Registry | undefined,
  files: readonly string[],
  routes: readonly Route[],
  [leftOut]: readonly string[],
): Failure {
  const left = `${out} is left as it was`
  if (leftOut !== undefined)
    return new Failure('input', `none of the apps can be written: ${leftOut}; ${left}`)
  if (routes.length > 0)
    return new Failure(
      'input',
      `no app was found: all ${routes.length} routes are TCP routes, which need no sign-in; ${left}`,
    )
  const daemon =
    registry === undefined
      ? 'no daemon is running (start devedged, or "npx ashlar-idp edge")'
      : `${nameOf(registry)} has no routes`
  const local =
    files.length > 0
      ? `${files.join(' and ')} list no routes`
      : `${resolve(folder)} has no ${LOCAL_FILES.join(' or ')}`
  const advice =
    config === undefined ? 'start your apps, or name a file with --config' : 'start your apps, or add routes'
  return new Failure('input', `no app was found: ${daemon} and ${local}; ${advice}; ${left}`)
}
