import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Failure } from '../errors/failure.js'
import { readWholeFile, reasonOf, writeWholeFile } from '../output/whole-file.js'
import { clientsOf } from './clients.js'
import { toClientsFile } from './to-clients-file.js'
import { API_VERSION, parseLocalConfig } from './local-config.js'
import { PROVIDER, upstreamAt } from './route-provider.js'

export const ROUTES_FILE = 'devedge.yaml'
export const CLIENTS_FILE = 'idp-clients.yaml'

/** The result for each starter file. */
export interface StarterReport {
  readonly files: readonly { readonly file: string; readonly state: 'written' | 'unchanged' }[]
}

/**
 * Returns the files that `idp new --emit` writes: a route to the provider, and the clients that a sync
 * creates from it.
 */
export function starterFiles(): Readonly<Record<string, string>> {
  const routes = starterRoutes()
  return {
    [ROUTES_FILE]: routes,
    [CLIENTS_FILE]: toClientsFile(clientsOf(parseLocalConfig(routes, ROUTES_FILE).routes)),
  }
}

/**
 * Writes the starter files into the folder `dir`, which is created if it does not exist.
 * @throws Failure, before anything is written, if a file differs from the starter and `force` is not set.
 */
export function emitStarter(
  dir: string,
  options: { readonly folder: string; readonly force: boolean },
): StarterReport {
  const files = Object.entries(starterFiles()).map(([name, text]) => {
    const file = join(dir, name)
    const path = resolve(options.folder, file)
    return { file, path, text, before: readWholeFile(path, file) }
  })
  const edited = files.filter(({ before, text }) => before !== undefined && before !== text)
  if (edited.length > 0 && !options.force) {
    const names = edited.map(({ file }) => file).join(' and ')
    const [differ, them] = edited.length === 1 ? ['differs', 'it'] : ['differ', 'them']
    const kept = edited.length === 1 ? 'is kept as it is' : 'are kept as they are'
    throw new Failure(
      'differs',
      `${names} ${differ} from the starter and ${kept}: pass --force to replace ${them}`,
    )
  }
  makeFolder(resolve(options.folder, dir), dir)
  return {
    files: files.map(({ file, path, text, before }) => {
      if (before === text) return { file, state: 'unchanged' }
      writeWholeFile(path, text, file)
      return { file, state: 'written' }
    }),
  }
}

function makeFolder(path: string, shown: string): void {
  try {
    mkdirSync(path, { recursive: true })
  } catch (error) {
    throw new Failure('output', `the folder ${shown} cannot be created: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}

function starterRoutes(): string {
  return `apiVersion: ${API_VERSION}
kind: Config
metadata:
  name: ${PROVIDER.project}
spec:
  routes:
    - host: ${PROVIDER.host}
      upstream: ${upstreamAt(PROVIDER.port)}
      tile:
        displayName: Identity provider
        description: Sign in during development
`
}
