import { AshlarError } from '../../errors.js'
import { Metadata } from '../../call.js'
import type { Call } from '../chain/call.js'
import type { Interceptor } from '../chain/interceptor.js'
import { FAULTS } from '../observability/server-faults.js'
import { untilSettled } from '../chain/reply.js'
import type { Telemetry } from '../observability/telemetry.js'

/** Runs every call in a span that is a child of the caller's span. This is the outermost interceptor. */
export const tracing =
  (telemetry: Telemetry): Interceptor =>
  (next, { method: { path } }) => {
    const name = path.slice(1)
    const attributes = { 'rpc.system.name': 'grpc', 'rpc.method': name }
    return (call) => {
      if (!telemetry.isHeard) return next(call)
      return telemetry.span({ name, attributes, carrier: carrierOf(call) }, (trace, end) => {
        const settled = (error?: unknown) => {
          const code = error === undefined ? 'OK' : error instanceof AshlarError ? error.code : 'INTERNAL'
          end({ attributes: { 'rpc.response.status_code': code }, isFault: FAULTS.has(code), error })
        }
        call.trace = trace
        return untilSettled(call, next, settled)
      })
    }
  }

/**
 * Returns the metadata with the caller's span. A call through the gateway uses the current span of its HTTP
 * request instead.
 */
const carrierOf = ({ incoming }: Call): Metadata =>
  incoming.transport === 'http' ? NOTHING : incoming.metadata

const NOTHING = new Metadata()
