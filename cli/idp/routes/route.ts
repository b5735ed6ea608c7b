/** The display of an app. A missing field is empty. */
export interface Tile {
  readonly displayName: string
  readonly description: string
  readonly iconURL: string
  readonly launchURL: string
}

export const TILE_KEYS: readonly (keyof Tile)[] = ['displayName', 'description', 'iconURL', 'launchURL']

/** One host (and path) that the edge serves, from the daemon or from a file. */
export interface Route {
  readonly host: string
  /** Empty if the route covers the whole host. */
  readonly path: string
  readonly upstream: string
  readonly protocol: 'http' | 'tcp'
  /** Empty when the route names none. */
  readonly project: string
  /** Absent or empty if the route has no tile. */
  readonly tile?: Tile
  /** A file that a person edits takes precedence over what the daemon remembers. */
  readonly fromFile: boolean
}
