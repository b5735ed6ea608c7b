import { existsSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Provider } from 'oidc-provider'
import { clientsFile, localPathOf, STARTER_CLIENTS } from '../clients/clients-file.js'
import { tilesOf } from '../clients/tiles.js'
import { controlSocketOf } from '../control/control-address.js'
import { serveControls } from '../control/control-server.js'
import { Failure } from '../idp-failure.js'
import { openState } from '../state/state-file.js'
import { Keys, PUBLISHED_BEFORE } from '../state/keys.js'
import { STARTER_USERS, usersFile } from '../users/users-file.js'
import type { ProviderContext } from './provider-context.js'
import { handlerOf } from './provider-handler.js'
import { issueToken } from './issue-token.js'
import { libraryOf } from './library.js'
import { listenOnLoopback } from './listen-on-loopback.js'
import { DEFAULT_HOST, DEFAULT_PORT, hostOf, issuerOf, type ProviderOptions } from './options.js'
import { printed } from '../printed.js'
import { Removals } from './removals.js'

/** A provider in this process. */
export interface RunningProvider {
  readonly issuer: string
  readonly port: number
  /** The files that were missing and have been created. */
  readonly written: readonly string[]
  /** Issues an access token of the user for the client, as `ashlar-idp token` does. */
  readonly token: (request: {
    readonly user: string
    readonly client: string
    readonly scope?: string
  }) => Promise<string>
  /** Returns the current problems of the files. */
  readonly problems: () => readonly string[]
  readonly close: () => Promise<void>
}

const WATCH_MS = 1_000
const KEYS_MS = 60_000

/**
 * Starts a provider on this machine.
 *
 * @throws Failure if an option is invalid, or if the port or the state is in use.
 */
export async function startProvider(options: ProviderOptions = {}): Promise<RunningProvider> {
  const { port = DEFAULT_PORT, warn = printed } = options
  const host = hostOf(options.host ?? DEFAULT_HOST)
  const given = options.issuer === undefined ? undefined : issuerOf(options.issuer)
  const folder = resolve(options.state ?? '.ashlar-idp')
  const now = (): number => Math.floor((options.now?.() ?? Date.now()) / 1000)
  const files = filesOf(options)
  const written = writeStarters(files)

  const state = openState(folder, now, warn)
  const keys = await Keys.open(folder, now, warn)
  // Problems at startup are printed by `serve` and `up`.
  let isStarted = false
  const report = (problem: string): void => {
    if (isStarted) warn(problem)
  }
  const users = usersFile(files.users, files.usersShown, report)
  const synced = clientsFile(files.clients, files.clientsShown, report)
  const local = clientsFile(files.local, files.localShown, report)
  const clients = () => new Map([...synced.read().value, ...local.read().value])
  const removals = new Removals(state, users, now)
  const context: ProviderContext = {
    issuer: '',
    host,
    state,
    user: (sub) => users.read().value.get(sub),
    users: () => [...users.read().value.values()],
    client: (id) => local.read().value.get(id) ?? synced.read().value.get(id),
    clients: () => [...clients().values()],
    tiles: () => tilesOf(clients().values(), context),
    problems: () => [users, synced, local].flatMap((file) => file.read().problems),
    now,
    warn,
  }
  let library: Provider
  const servers = await listenOnLoopback(
    port,
    (taken) => {
      Object.assign(context, { issuer: given ?? `http://127.0.0.1:${taken}` })
      library = libraryOf(context, keys)
      const handle = handlerOf(context, () => library)
      return (request, response) => {
        removals.end()
        handle(request, response)
      }
    },
    warn,
  )
  const renew = (): void => {
    library = libraryOf(context, keys)
  }
  const controls = await serveControls(controlSocketOf(folder), {
    '/token': async ({ user, client, scope }) => {
      const wanted = typeof scope === 'string' ? scope : undefined
      return issueToken(library, context, { user: String(user), client: String(client), scope: wanted })
    },
    '/rotate': async () => {
      const seconds = keys.secondsUntilRotation()
      if (seconds > 0)
        throw new Failure(
          `the next key was published ${PUBLISHED_BEFORE - seconds} s ago: verifiers may not have it yet, try again in ${seconds} s`,
        )
      await keys.rotate()
      renew()
      return { kids: keys.jwks.keys.map(({ kid }) => kid) }
    },
  }).catch(async (error: unknown) => {
    await servers.close()
    throw error
  })
  context.problems()
  isStarted = true
  const timers = [
    setInterval(() => {
      removals.end()
      // Report invalid edits even if no page is opened.
      context.problems()
      state.store.sweep()
    }, WATCH_MS).unref(),
    setInterval(() => void keys.keepFresh().then((changed) => changed && renew()), KEYS_MS).unref(),
  ]
  return {
    issuer: context.issuer,
    port: servers.port,
    written,
    token: async ({ user, client, scope }) =>
      (await issueToken(library, context, { user, client, scope })).access_token,
    problems: context.problems,
    close: async () => {
      timers.forEach((timer) => clearInterval(timer))
      await Promise.all([
        servers.close(),
        new Promise((resolve) => {
          controls.close(resolve)
          controls.closeAllConnections()
        }),
      ])
      await state.written()
      state.close()
    },
  }
}

function filesOf({ clients = 'idp-clients.yaml', users = 'idp-users.yaml' }: ProviderOptions) {
  return {
    ...{ clients: resolve(clients), clientsShown: clients },
    ...{ local: resolve(localPathOf(clients)), localShown: localPathOf(clients) },
    ...{ users: resolve(users), usersShown: users },
  }
}

function writeStarters(files: ReturnType<typeof filesOf>): readonly string[] {
  const starters = [
    [files.users, files.usersShown, STARTER_USERS],
    [files.local, files.localShown, STARTER_CLIENTS],
  ] as const
  return starters.flatMap(([path, shown, text]) => {
    if (existsSync(path)) return []
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
    return [shown]
  })
}
