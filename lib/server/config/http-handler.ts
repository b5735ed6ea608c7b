import type { HttpHandler } from '../../gateway/routing/mux.js'

/**
 * An HTTP handler on the gateway's listener. It bypasses the interceptor chain, so it must authorize its own
 * requests.
 */
export interface HTTPHandler {
  /**
   * An exact path, or a prefix if it ends in `/`. The most specific pattern wins. The paths of health probes
   * are reserved.
   */
  readonly pattern: string
  readonly handler: HttpHandler
}
