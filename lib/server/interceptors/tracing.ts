import { AshlarError, CODES } from '../../errors.js'
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
  (next, { method: { desc, path } }) => {
    const attributes = { 'rpc.system': 'grpc', 'rpc.service': desc.parent.typeName, 'rpc.method': desc.name }
    return (call) => {
      if (!telemetry.isHeard) return next(call)
      return telemetry.span({ name: path.slice(1), attributes, carrier: carrierOf(call) }, (trace, end) => {
        const settled = (error?: unknown) => {
          const code = error === undefined ? 'OK' : error instanceof AshlarError ? error.code : 'INTERNAL'
          end({ attributes: { 'rpc.grpc.status_code': CODES[code] }, isFault: FAULTS.has(code), error })
        }
        return untilSettled(Object.assign(call, { trace }), next, settled)
      })
    }
  }

/** A call through the gateway is a child of the span of its HTTP request, which is the current one. */
const carrierOf = ({ incoming }: Call): Metadata =>
  incoming.transport === 'http' ? NOTHING : incoming.metadata

const NOTHING = new Metadata()
