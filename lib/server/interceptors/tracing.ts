import { AshlarError } from '../../errors.js'
import { Metadata } from '../../call.js'
import type { Call } from '../chain/call.js'
import type { Interceptor } from '../chain/interceptor.js'
import { FAULTS } from '../observability/server-faults.js'
import { untilSettled } from '../chain/reply.js'
import type { Telemetry } from '../observability/telemetry.js'

/** Runs every call in a span, as the outermost interceptor: a child of the caller's own span. */
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

/** A call through the gateway is a child of the span of its HTTP request, which is the current one. */
const carrierOf = ({ incoming }: Call): Metadata =>
  incoming.transport === 'http' ? NOTHING : incoming.metadata

const NOTHING = new Metadata()
