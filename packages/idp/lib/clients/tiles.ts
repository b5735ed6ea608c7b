import type { Client } from './client.js'
import { isOwnOrigin } from './origins.js'

/** A client in the app dashboard. */
export interface Tile {
  readonly clientId: string
  readonly name: string
  readonly description: string
  /** The icon. Empty if it is not from the client's own origin. */
  readonly iconUrl: string
  /** The address to open. Empty if there is none that a browser may open. */
  readonly launchUrl: string
}

/** The address of the provider itself. */
export interface ProviderPlace {
  readonly issuer: string
  /** The host that `idp up` assigns to the provider. */
  readonly host: string
}

/** The id that `idp clients sync` assigns to the provider's own route. */
const PROVIDER_ID = 'idp'

/** Returns the tiles of clients in order, without the provider itself. */
export const tilesOf = (clients: Iterable<Client>, place: ProviderPlace): readonly Tile[] =>
  [...clients].flatMap((client) => {
    if (client.tile === undefined || isProvider(client, place)) return []
    const { name, description, iconUrl, launchUrl } = client.tile
    return [
      {
        clientId: client.id,
        name: name.trim() || client.id,
        description,
        iconUrl: isOwnOrigin(client, iconUrl) ? new URL(iconUrl).href : '',
        launchUrl: linkOf(launchUrl),
      },
    ]
  })

function isProvider({ id, redirectUris, tile }: Client, { issuer, host }: ProviderPlace): boolean {
  if (id === PROVIDER_ID) return true
  const own = new URL(issuer)
  return [...redirectUris, tile?.launchUrl ?? ''].some((text) => {
    if (!URL.canParse(text)) return false
    const url = new URL(text)
    return url.origin === own.origin || url.hostname === host
  })
}

/**
 * Returns an http or https address, or an empty string. A link with another scheme could run code or open a
 * program.
 */
function linkOf(text: string): string {
  if (/\p{Cc}/u.test(text) || !URL.canParse(text)) return ''
  const url = new URL(text)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : ''
}

/** Returns two letters for a tile without an icon. */
export function initialsOf(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const [first = '', second = ''] = words
  const letters = second === '' ? [...first].slice(0, 2) : [[...first][0], [...second][0]]
  return letters.join('').toUpperCase() || '?'
}
