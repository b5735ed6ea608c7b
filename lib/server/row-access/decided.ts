import type { Restriction } from '../authz/decision.js'

/** The decision about a call. */
export interface Decided {
  /** About the call itself. */
  readonly own: Restriction
  /** About reading the same resource: what is not in it is not there for the caller. */
  readonly readable: () => Restriction | Promise<Restriction>
  /** Reports why the call is denied, if callers may learn that. */
  readonly explain: (why: string) => void
}
