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
  /** Returns every registered method. Methods with `google.api.http` get routes. */
  readonly methods: () => readonly DescMethod[]
  /** Paths that take precedence over mounted handlers and routes. Default: none. */
  readonly exactPaths?: ExactPaths | undefined
  /** Runs the readiness checks of `/readyz`. */
  readonly readiness: () => Promise<readonly ReadinessResult[]>
  /** The treatment of `update_mask` paths in another format. Default: `spec`. */
  readonly updateMask: UpdateMaskMode
  /** Maximum bytes of a body after decompression. Default: 1 MiB. */
  readonly maxBodyBytes: number
  /** Counts the bytes of bodies before authentication. Default: no limit. */
  readonly unauthenticated?: UnauthenticatedBytes
  /** Additional request headers that become metadata. Default: none. */
  readonly forwardHeaders: readonly string[]
  /**
   * Response metadata that becomes headers, in addition to `x-request-id`, `x-idempotent-replay` and
   * `x-denied-because`.
   */
  readonly responseHeaders: readonly string[]
  /** Compresses responses of 1 KiB and more if the client accepts it. Default: true. */
  readonly compress: boolean
  /** Default: pages of other origins cannot read responses. */
  readonly cors: CorsOptions | undefined
  readonly logger?: GatewayLogger
  /** Called for every update whose mask was partly ignored, for example to count such updates. */
  readonly onIgnoredMask: ((method: DescMethod, paths: readonly string[]) => void) | undefined
}
