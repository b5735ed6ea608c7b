import type { HttpHandler } from '../../gateway/routing/mux.js'

/** Mounted beside the gateway. It does not pass the chain: the handler authorizes its own requests. */
export interface HTTPHandler {
  /**
   * An exact path, or a prefix when it ends in `/`. The most specific pattern wins; probes cannot be claimed.
   */
  readonly pattern: string
  readonly handler: HttpHandler
}
