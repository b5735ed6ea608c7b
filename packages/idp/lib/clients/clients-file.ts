import { LiveFile, type Parsed } from '../files/live-file.js'
import { isMapping, type YamlValue, yamlText } from '../files/yaml-text.js'
import type { Client, ClientTile } from './client.js'

const KEYS = ['client_id', 'client_secret', 'redirect_uris', 'tile']
const TILE_KEYS = ['name', 'description', 'icon_url', 'launch_url']
/** Matches the characters that OAuth does not allow in an identifier or a secret (RFC 6749, appendix A). */
const NOT_VSCHAR = /[^\x20-\x7e]/
const CONTROL = /\p{Cc}/u
/** Schemes that a browser would execute or open itself. */
const NO_REDIRECT = ['javascript:', 'data:', 'vbscript:', 'blob:', 'file:', 'about:']

export type Clients = ReadonlyMap<string, Client>

/**
 * Returns the clients of a file by id. After a file without invalid entries was read, only another such file
 * replaces it; a missing file counts as an invalid edit, too. Before that, invalid entries are skipped and
 * reported, and without a file the list is empty.
 */
export function clientsFile(
  path: string,
  shown: string,
  report?: (problem: string) => void,
): LiveFile<Clients> {
  let isKnown = false
  const parse = (text: string | undefined): Parsed<Clients> => {
    if (text === undefined) {
      if (isKnown) throw new TypeError('there is no such file')
      return { value: new Map(), problems: [] }
    }
    const { value, problems, unusable } = parseClients(text)
    if (isKnown && unusable.length > 0) throw new TypeError(unusable.join('; '))
    isKnown ||= unusable.length === 0
    return { value, problems: [...problems, ...unusable.map((entry) => `left out: ${entry}`)] }
  }
  return new LiveFile<Clients>(path, shown, new Map(), parse, report)
}

/** The clients of a file. `unusable` contains the skipped entries with reasons. */
interface ParsedClients extends Parsed<Clients> {
  readonly unusable: readonly string[]
}

/**
 * @throws Error if the text is not a list.
 */
export function parseClients(text: string): ParsedClients {
  const list = yamlText(text)
  if (!Array.isArray(list))
    throw new TypeError('it is not a list of clients: begin each one with "- client_id: ", or write []')
  const clients = new Map<string, Client>()
  const problems: string[] = []
  const unusable: string[] = []
  list.forEach((entry: YamlValue, index) => {
    const id = isMapping(entry) && typeof entry['client_id'] === 'string' ? entry['client_id'] : ''
    const where = id === '' ? `entry ${index + 1}` : `client "${id}"`
    try {
      const client = clientOf(entry, id, (problem) => problems.push(`${where}: ${problem}`))
      if (clients.has(id)) throw new TypeError('another entry has the same client_id')
      clients.set(id, client)
    } catch (error) {
      unusable.push(`${where}: ${(error as Error).message}`)
    }
  })
  return { value: clients, problems, unusable }
}

function clientOf(entry: YamlValue, id: string, note: (problem: string) => void): Client {
  if (!isMapping(entry)) throw new TypeError('it is not a mapping of client_id and other keys')
  noteUnknown(entry, KEYS, '', note)
  if (id === '') throw new TypeError('it has no client_id')
  if (NOT_VSCHAR.test(id)) throw new TypeError('OAuth allows printable ASCII only in a client_id')
  const secret = textOf(entry, 'client_secret')
  if (NOT_VSCHAR.test(secret)) throw new TypeError('OAuth allows printable ASCII only in a client_secret')
  const tile = entry['tile'] ?? undefined
  return {
    id,
    secret: secret === '' ? undefined : secret,
    redirectUris: redirectUrisOf(entry['redirect_uris'] ?? []),
    tile: tile === undefined ? undefined : tileOf(tile, note),
  }
}

function redirectUrisOf(value: YamlValue): readonly string[] {
  const list = typeof value === 'string' ? [value] : value
  if (!Array.isArray(list)) throw new TypeError('redirect_uris is not a list')
  const uris = list.map((uri: YamlValue) => {
    if (typeof uri !== 'string' || !URL.canParse(uri) || CONTROL.test(uri))
      throw new TypeError(
        `"${typeof uri === 'string' ? uri : typeof uri}" of redirect_uris is not an absolute address`,
      )
    const { protocol, hash, username, password } = new URL(uri)
    if (hash !== '' || uri.endsWith('#')) throw new TypeError(`"${uri}" of redirect_uris has a fragment`)
    if (`${username}${password}` !== '') throw new TypeError(`"${uri}" of redirect_uris has a user name`)
    if (NO_REDIRECT.includes(protocol))
      throw new TypeError(`"${uri}" of redirect_uris is a ${protocol} address`)
    return uri
  })
  return [...new Set(uris)]
}

function tileOf(value: YamlValue, note: (problem: string) => void): ClientTile {
  if (!isMapping(value)) throw new TypeError('tile is not a mapping')
  noteUnknown(value, TILE_KEYS, 'tile.', note)
  return {
    name: textOf(value, 'name'),
    description: textOf(value, 'description'),
    iconUrl: textOf(value, 'icon_url'),
    launchUrl: textOf(value, 'launch_url'),
  }
}

function textOf(entry: Readonly<Record<string, YamlValue>>, key: string): string {
  const value = entry[key] ?? ''
  if (typeof value !== 'string') throw new TypeError(`${key} is not a string`)
  return value
}

function noteUnknown(
  entry: Readonly<Record<string, YamlValue>>,
  known: readonly string[],
  prefix: string,
  note: (problem: string) => void,
): void {
  for (const key of Object.keys(entry))
    if (!known.includes(key)) note(`"${prefix}${key}" is ignored; the keys are ${known.join(', ')}`)
}

/**
 * Returns the user's own file for a file that a sync writes: `idp-clients.local.yaml` for `idp-clients.yaml`.
 */
export const localPathOf = (path: string): string =>
  /\.ya?ml$/.test(path) ? path.replace(/(\.ya?ml)$/, '.local$1') : `${path}.local`

export const STARTER_CLIENTS = `# Clients of your own. They win over those of the file that "idp clients sync" writes.
# Without client_secret a client is public. Secrets here are for development only.
- client_id: app
  client_secret: dev-secret-app
  redirect_uris:
    - http://localhost:3000/callback
  tile:
    name: App
    description: What npm run dev serves on port 3000
    icon_url: ""
    launch_url: http://localhost:3000/
`
