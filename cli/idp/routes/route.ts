/** The display of an app. Missing fields are empty. */
export interface Tile {
  readonly displayName: string
  readonly description: string
  readonly iconURL: string
  readonly launchURL: string
}

export const TILE_KEYS: readonly (keyof Tile)[] = ['displayName', 'description', 'iconURL', 'launchURL']

/** A host, with an optional path, that the proxy serves, from the daemon or from a file. */
export interface Route {
  readonly host: string
  /** Empty if the route covers the whole host. */
  readonly path: string
  readonly upstream: string
  readonly protocol: 'http' | 'tcp'
  /** The project; empty if the route names none. */
  readonly project: string
  /** Undefined or empty if the route has no tile. */
  readonly tile?: Tile
  /** True if the route comes from a file. A file that the user edits takes precedence over the daemon. */
  readonly fromFile: boolean
}
