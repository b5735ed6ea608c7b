/** An application that people sign in to, as a clients file lists it. */
export interface Client {
  readonly id: string
  /** Undefined for a public client. */
  readonly secret: string | undefined
  readonly redirectUris: readonly string[]
  /** Undefined for a client without one, which is not on the launchpad. */
  readonly tile: ClientTile | undefined
}

/** The display of a client in the app dashboard. A missing text is empty. */
export interface ClientTile {
  readonly name: string
  readonly description: string
  readonly iconUrl: string
  readonly launchUrl: string
}
