import type { DescMethod } from '@bufbuild/protobuf'
import type { Dispatcher } from '../call.js'
import type { UnauthenticatedBytes } from '../bounds/unauthenticated-bytes.js'
import type { ExactPaths } from './exact-path.js'
import type { CorsOptions } from './http/cors.js'
import type { ReadinessResult } from './http/probes.js'
import type { UpdateMaskMode } from './transcoding/update-mask-forms.js'

/** Receives failures that no caller receives. */
export interface GatewayLogger {
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface GatewayOptions {
  readonly dispatcher: Dispatcher
  /** Every registered method; those with `google.api.http` get routes. */
  readonly methods: () => readonly DescMethod[]
  /** Paths that take precedence over mounted handlers and routes. Default: none. */
  readonly exactPaths?: ExactPaths | undefined
  /** Runs the readiness checks of `/readyz`. */
  readonly readiness: () => Promise<readonly ReadinessResult[]>
  /** The treatment of `update_mask` paths in another form. Default `spec`. */
  readonly updateMask: UpdateMaskMode
  /** Bytes of a body, after inflation. Default 1 MiB. */
  readonly maxBodyBytes: number
  /** Counts the bytes of bodies before authentication. Default: without a limit. */
  readonly unauthenticated?: UnauthenticatedBytes
  /** More request headers that become metadata. Default: none. */
  readonly forwardHeaders: readonly string[]
  /**
   * More response metadata that become headers, beside `x-request-id`, `x-idempotent-replay` and
   * `x-denied-because`.
   */
  readonly responseHeaders: readonly string[]
  /** Compresses responses of 1 KiB and more when the client accepts it. Default true. */
  readonly compress: boolean
  /** Default: pages of other origins can read nothing. */
  readonly cors: CorsOptions | undefined
  readonly logger?: GatewayLogger
  /** Called for every update whose mask was partly ignored, for example to count them. */
  readonly onIgnoredMask: ((method: DescMethod, paths: readonly string[]) => void) | undefined
}
