import { AshlarError } from '../../errors.js'
import { Metadata } from '../../call.js'
import type { Call } from '../chain/call.js'
import type { Interceptor } from '../chain/interceptor.js'
import { FAULTS } from '../observability/server-faults.js'
import { untilSettled } from '../chain/reply.js'
import type { TraceIds } from '../../context.js'
import type { Telemetry } from '../observability/telemetry.js'

export interface Traced {
  /** Undefined without tracing. */
  readonly trace?: TraceIds | undefined
}

/** Runs every call in a span, as the outermost interceptor: a child of the caller's own span. */
export const tracing =
  (telemetry: Telemetry): Interceptor<Traced> =>
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
        return untilSettled(Object.assign(call, { trace }), next, settled)
      })
    }
  }

/** A call through the gateway is a child of the span of its HTTP request, which is the current one. */
const carrierOf = ({ incoming }: Call): Metadata =>
  incoming.transport === 'http' ? NOTHING : incoming.metadata

const NOTHING = new Metadata()
