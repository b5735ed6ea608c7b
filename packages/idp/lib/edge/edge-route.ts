/** The destination of requests to a host, or to a path of it. */
export interface EdgeRoute {
  readonly host: string
  /** The path. Empty for the whole host. */
  readonly path: string
  readonly stripPrefix: boolean
  readonly upstream: string
  /** The protocol. Empty means http. */
  readonly protocol: string
  readonly backendTls: boolean
  readonly project: string
  readonly tile: EdgeTile | undefined
  /** The owner. Empty if there is none. */
  readonly owner: string
  /**
   * The time in nanoseconds after the last PUT at which the route expires. Zero or a negative value means
   * never.
   */
  readonly ttl: bigint
}

export interface EdgeTile {
  readonly display_name: string
  readonly description: string
  readonly icon_url: string
  readonly launch_url: string
}

/** A registered route. Times are in milliseconds since the epoch. */
export interface KeptRoute extends EdgeRoute {
  readonly createdAt: number
  readonly renewedAt: number
}
