/** A host, or a part of it by path, and where its requests go. */
export interface EdgeRoute {
  readonly host: string
  /** Empty for the whole host. */
  readonly path: string
  readonly stripPrefix: boolean
  readonly upstream: string
  /** Empty is http. */
  readonly protocol: string
  readonly backendTls: boolean
  readonly project: string
  readonly tile: EdgeTile | undefined
  /** Empty if it has no owner. */
  readonly owner: string
  /** Nanoseconds. The route lapses so long after its last PUT; zero and less: it stays. */
  readonly ttl: bigint
}

export interface EdgeTile {
  readonly display_name: string
  readonly description: string
  readonly icon_url: string
  readonly launch_url: string
}

/** A route that is served. Times are milliseconds since the epoch. */
export interface KeptRoute extends EdgeRoute {
  readonly createdAt: number
  readonly renewedAt: number
}
