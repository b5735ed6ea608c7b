import { problem, type Problem } from '../../errors.js'
import { documentedNumber, type Fields, MIB } from './config-field.js'

/** The resources that one client can use. Durations are in milliseconds; `Infinity` means no limit. */
export interface LimitsConfig {
  /** Bytes of a gRPC message, after inflation; a larger one is ResourceExhausted. Default 4 MiB. */
  readonly maxMessageBytes?: number
  /**
   * Bytes that requests hold in memory before their calls are authenticated, of all calls and on all
   * listeners. When it is more, a request of the network that holds most is ResourceExhausted. Those of
   * public methods count as long as their calls. Default 32 MiB.
   */
  readonly unauthenticatedBytes?: number
  /** Concurrent calls on one connection of gRPC or HTTP/2; further ones wait at the client. Default 1,000. */
  readonly maxConcurrentStreams?: number
  /** The time a gRPC connection may be silent before the server pings it. Default 60,000. */
  readonly grpcKeepaliveMs?: number
  /**
   * The time the client has to respond to the ping before the connection is closed, and to close a connection
   * that has ended. Default 20,000.
   */
  readonly grpcKeepaliveTimeoutMs?: number
  /** A gRPC connection without calls is closed, with notice, after this time. Default: none. */
  readonly grpcMaxIdleMs?: number
  /**
   * A gRPC connection is closed, with notice, at this age, so that clients spread over new servers. Default:
   * none.
   */
  readonly grpcMaxAgeMs?: number
  /** Concurrent HTTP connections; further ones are closed at once. Default: none. */
  readonly maxHttpConnections?: number
  /** Time for the TLS handshake, over gRPC too, and for all headers of an HTTP request. Default 10,000. */
  readonly httpHeadersMs?: number
  /**
   * Time to receive a whole HTTP request with its body, and how long a client may take nothing of a
   * response, over gRPC too. Default 30,000.
   */
  readonly httpRequestMs?: number
  /**
   * The time an idle HTTP connection is kept. Default 65,000, longer than common load balancers keep theirs.
   */
  readonly httpKeepaliveMs?: number
  /** Bytes of request line and headers, on both listeners. Default 16,384. */
  readonly maxHeaderBytes?: number
  /**
   * The maximum that `total_size` of a List response counts to; larger totals are this number. Default
   * 10,000.
   */
  readonly maxTotalSize?: number
  /**
   * Bytes of strings, bytes and JSON in the rows of one page of a standard List. The page ends before it has
   * more, and has at least one resource. Default 3 MiB.
   */
  readonly maxPageBytes?: number
  /**
   * Bytes of a response, or of one message of a stream; a larger one is ResourceExhausted. Default 64 MiB.
   */
  readonly maxResponseBytes?: number
  /**
   * Messages, strings and bytes in lists, and map entries of one request message, counted before they are
   * decoded; more are ResourceExhausted. Default 100,000.
   */
  readonly maxElements?: number
  /**
   * Connections of a database pool that calls of one tenant hold at the same time; further calls of the
   * tenant wait. It is always at least one, and at most all but one. Calls of the system, and those without a
   * tenant, may hold all. Default: all but one.
   */
  readonly maxTenantConnections?: number
  /**
   * Bytes of messages that calls of one tenant have sent in part, on all listeners; beyond it a call is
   * ResourceExhausted. Calls without a tenant count for their network. Default 64 MiB.
   */
  readonly maxTenantUnfinishedBytes?: number
}

export type ResolvedLimits = Required<LimitsConfig>

interface Limit {
  readonly byDefault: number
  /** True if the limit has to be finite. */
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

/** Every field of `LimitsConfig`, once. */
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

/** The mistakes in the values of limits, one text each. */
export const limitProblems = (limits: LimitsConfig): Problem[] =>
  limitsIn.flatMap(([name, { isFinite = false }]) => {
    const { [name]: value } = limits
    if (value === undefined || (value === Number.POSITIVE_INFINITY && !isFinite)) return []
    if (Number.isInteger(value) && value > 0 && value <= LARGEST_BOUND) return []
    return [
      problem('option', `limits: ${name} is ${value}`, `give a whole number between 1 and ${LARGEST_BOUND}`),
    ]
  })
