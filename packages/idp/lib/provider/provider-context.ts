import type { Client } from '../clients/client.js'
import type { Tile } from '../clients/tiles.js'
import type { StateFile } from '../state/state-file.js'
import type { User } from '../users/user.js'

/** The parts that the provider's modules share. Users and clients are read from the current files. */
export interface ProviderContext {
  /** The issuer, an origin such as `http://127.0.0.1:8080`. */
  readonly issuer: string
  /** The host name that the local HTTPS proxy assigns to the provider. */
  readonly host: string
  readonly state: StateFile
  readonly user: (sub: string) => User | undefined
  readonly users: () => readonly User[]
  readonly client: (id: string) => Client | undefined
  readonly clients: () => readonly Client[]
  readonly tiles: () => readonly Tile[]
  /** The problems of the files. */
  readonly problems: () => readonly string[]
  /** Returns the time in seconds since the epoch. */
  readonly now: () => number
  /** Receives messages for the user. */
  readonly warn: (text: string) => void
}
