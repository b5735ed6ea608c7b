import type { Restriction } from '../authz/decision.js'

/** The decisions about a call. */
export interface Decided {
  /** The decision about the call itself. */
  readonly own: Restriction
  /** The decision about reading the same resource. Rows outside it do not exist for the caller. */
  readonly readable: () => Restriction | Promise<Restriction>
  /** Reports why the call is denied, if callers may learn that. */
  readonly explain: (why: string) => void
}
