import { problem, type Problem } from '../../errors.js'
import { documentedNumber, type Fields, MIB } from './config-field.js'

/** The resources that one client can use. Durations are in milliseconds; `Infinity` means no limit. */
export interface LimitsConfig {
  /**
   * Maximum size of a gRPC message in bytes after decompression. Larger messages fail with ResourceExhausted.
   * Default: 4 MiB.
   */
  readonly maxMessageBytes?: number
  /**
   * Maximum bytes of all requests that are in memory and not yet authenticated, on all listeners. Above the
   * limit, a request of the network that uses the most fails with ResourceExhausted. Requests of public
   * methods count until their call ends. Default: 32 MiB.
   */
  readonly unauthenticatedBytes?: number
  /**
   * Maximum concurrent calls on one gRPC or HTTP/2 connection. Further calls wait at the client. Default:
   * 1,000.
   */
  readonly maxConcurrentStreams?: number
  /** Time in milliseconds without traffic after which the server pings a gRPC connection. Default: 60,000. */
  readonly grpcKeepaliveMs?: number
  /**
   * Time in milliseconds for the client to answer the ping, and to close a connection that has ended, before
   * the server closes it. Default: 20,000.
   */
  readonly grpcKeepaliveTimeoutMs?: number
  /** Closes a gRPC connection gracefully after this many milliseconds without a call. Default: none. */
  readonly grpcMaxIdleMs?: number
  /**
   * Closes a gRPC connection gracefully at this age in milliseconds, so that clients spread over new servers.
   * Default: none.
   */
  readonly grpcMaxAgeMs?: number
  /** Maximum concurrent HTTP connections. Further connections are closed at once. Default: none. */
  readonly maxHttpConnections?: number
  /**
   * Time in milliseconds for the TLS handshake, including gRPC, and for all headers of an HTTP request.
   * Default: 10,000.
   */
  readonly httpHeadersMs?: number
  /**
   * Time in milliseconds to receive a whole HTTP request, and the time in which a client must read part of a
   * response, including gRPC. Default: 30,000.
   */
  readonly httpRequestMs?: number
  /**
   * Time in milliseconds that an idle HTTP connection stays open. The default, 65,000, exceeds the idle
   * timeout of common load balancers.
   */
  readonly httpKeepaliveMs?: number
  /** Maximum size of the request line and headers in bytes, on both listeners. Default: 16,384. */
  readonly maxHeaderBytes?: number
  /**
   * The highest `total_size` in a List response. Larger totals are reported as this number. Default: 10,000.
   */
  readonly maxTotalSize?: number
  /**
   * Maximum bytes of strings, bytes and JSON values in one page of a standard List. A page ends before it
   * exceeds the limit, but contains at least one resource. Default: 3 MiB.
   */
  readonly maxPageBytes?: number
  /**
   * Maximum size of a response, or of one message of a stream, in bytes. Larger ones fail with
   * ResourceExhausted. Default: 64 MiB.
   */
  readonly maxResponseBytes?: number
  /**
   * Maximum number of messages, list items and map entries in one request message, counted before decoding.
   * More fail with ResourceExhausted. Default: 100,000.
   */
  readonly maxElements?: number
  /**
   * Maximum connections of a database pool that one tenant's calls may hold at a time. Further calls of the
   * tenant wait. The effective value is at least one and leaves one connection free. System calls and calls
   * without a tenant are not limited. Default: all but one.
   */
  readonly maxTenantConnections?: number
  /**
   * Maximum bytes of incomplete messages from one tenant's calls, on all listeners. Beyond it a call fails
   * with ResourceExhausted. Calls without a tenant are counted by their network. Default: 64 MiB.
   */
  readonly maxTenantUnfinishedBytes?: number
}

export type ResolvedLimits = Required<LimitsConfig>

interface Limit {
  readonly byDefault: number
  /** True if `Infinity` is not allowed. */
  readonly isFinite?: boolean
}

const LIMITS: Readonly<Record<keyof LimitsConfig, Limit>> = {
  maxMessageBytes: { byDefault: 4 * MIB, isFinite: true },
  unauthenticatedBytes: { byDefault: 32 * MIB, isFinite: true },
  maxConcurrentStreams: { byDefault: 1_000, isFinite: true },
  grpcKeepaliveMs: { byDefault: 60_000 },
  grpcKeepaliveTimeoutMs: { byDefault: 20_000 },
  grpcMaxIdleMs: { byDefault: Number.POSITIVE_INFINITY },
  grpcMaxAgeMs: { byDefault: Number.POSITIVE_INFINITY },
  maxHttpConnections: { byDefault: Number.POSITIVE_INFINITY },
  httpHeadersMs: { byDefault: 10_000 },
  httpRequestMs: { byDefault: 30_000 },
  httpKeepaliveMs: { byDefault: 65_000 },
  maxHeaderBytes: { byDefault: 16_384, isFinite: true },
  maxTotalSize: { byDefault: 10_000 },
  maxPageBytes: { byDefault: 3 * MIB },
  maxResponseBytes: { byDefault: 64 * MIB },
  maxElements: { byDefault: 100_000 },
  maxTenantConnections: { byDefault: Number.POSITIVE_INFINITY },
  maxTenantUnfinishedBytes: { byDefault: 64 * MIB },
}

const limitsIn = Object.entries(LIMITS) as [keyof LimitsConfig, Limit][]

/** All fields of `LimitsConfig`. */
export const LIMIT_FIELDS = Object.fromEntries(
  limitsIn.map(([name, { byDefault }]) => [
    name,
    {
      documented: documentedNumber(byDefault),
      resolve: (limits: LimitsConfig) => limits[name] ?? byDefault,
    },
  ]),
) as Fields<LimitsConfig, ResolvedLimits>

const LARGEST_BOUND = 2 ** 31 - 1

/** Returns one problem for each invalid limit. */
export const limitProblems = (limits: LimitsConfig): Problem[] =>
  limitsIn.flatMap(([name, { isFinite = false }]) => {
    const { [name]: value } = limits
    if (value === undefined || (value === Number.POSITIVE_INFINITY && !isFinite)) return []
    if (Number.isInteger(value) && value > 0 && value <= LARGEST_BOUND) return []
    return [
      problem('option', `limits: ${name} is ${value}`, `give a whole number between 1 and ${LARGEST_BOUND}`),
    ]
  })
