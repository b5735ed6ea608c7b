import type { DescMethod } from '@bufbuild/protobuf'
import type { Dispatcher } from '../call.js'
import type { CorsOptions } from './http/cors.js'
import type { ReadinessResult } from './http/probes.js'
import type { UpdateMaskMode } from './transcoding/update-mask-spelling.js'

/** Where the gateway reports what nobody else would hear of. */
export interface GatewayLogger {
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface GatewayOptions {
  readonly dispatcher: Dispatcher
  /** Every registered method; those with `google.api.http` get routes. */
  readonly methods: () => readonly DescMethod[]
  /** Runs the readiness checks of `/readyz`. */
  readonly readiness: () => Promise<readonly ReadinessResult[]>
  /** Default `spec`. */
  readonly updateMask?: UpdateMaskMode
  /** Bytes of a body, after inflation. Default 1 MiB. */
  readonly maxBodyBytes?: number
  /** More request headers that become metadata. */
  readonly forwardHeaders?: readonly string[]
  /** More response metadata that become headers, beside `x-request-id` and `x-idempotent-replay`. */
  readonly responseHeaders?: readonly string[]
  /** Compresses answers of 1 KiB and more for who accepts it. Default true. */
  readonly compress?: boolean
  /** Default: pages of other origins may read nothing. */
  readonly cors?: CorsOptions
  readonly logger?: GatewayLogger
  /** Hears of every update whose mask was partly ignored, for a counter. */
  readonly onIgnoredMask?: (method: DescMethod, paths: readonly string[]) => void
}
