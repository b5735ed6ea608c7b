/** An application that people sign in to, as listed in a clients file. */
export interface Client {
  readonly id: string
  /** The secret. Undefined for a public client. */
  readonly secret: string | undefined
  readonly redirectUris: readonly string[]
  /** The client's tile in the app dashboard. Undefined if it has none. */
  readonly tile: ClientTile | undefined
}

/** The display of a client in the app dashboard. Missing strings are empty. */
export interface ClientTile {
  readonly name: string
  readonly description: string
  readonly iconUrl: string
  readonly launchUrl: string
}
