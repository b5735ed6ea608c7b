import type { Restriction } from '../authz/decision.js'

/** What was decided about a call. */
export interface Decided {
  /** About the call itself. */
  readonly own: Restriction
  /** About reading the same resource: what is not in it is not there for the caller. */
  readonly readable: () => Restriction | Promise<Restriction>
  /** Says why the call is refused, where that is told. */
  readonly explain: (why: string) => void
}
