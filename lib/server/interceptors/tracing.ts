import { AshlarError, CODES } from '../../errors.js'
import { Metadata } from '../../call.js'
import type { Call, Interceptor } from '../chain/interceptor.js'
import { FAULTS } from '../observability/server-faults.js'
import { answered, whenSettled } from '../chain/reply.js'
import type { Telemetry, TraceIds } from '../observability/telemetry.js'

export interface Traced {
  /** Undefined where nobody traces. */
  readonly trace: TraceIds | undefined
}

/** Runs every call in a span, from outside of the chain, as the child of the caller's own span. */
export const tracing =
  (telemetryOf: () => Telemetry | undefined): Interceptor<Traced> =>
  (call, next) => {
    const telemetry = telemetryOf()
    if (telemetry?.isHeard !== true) return next(call.with({ trace: undefined }))
    const { desc, path } = call.method
    const attributes = { 'rpc.system': 'grpc', 'rpc.service': desc.parent.typeName, 'rpc.method': desc.name }
    return telemetry.span({ name: path.slice(1), attributes, carrier: carrierOf(call) }, (trace, end) => {
      const settled = (error?: unknown) => {
        const code = error === undefined ? 'OK' : error instanceof AshlarError ? error.code : 'INTERNAL'
        end({ attributes: { 'rpc.grpc.status_code': CODES[code] }, isFault: FAULTS.has(code), error })
      }
      return answered(
        () => next(call.with({ trace })),
        (reply) => whenSettled(call, reply, settled),
        (error) => {
          settled(error)
          throw error
        },
      )
    })
  }

/** A call through the gateway is a child of the span of its HTTP request, which is the current one. */
const carrierOf = ({ incoming }: Call): Metadata =>
  incoming.transport === 'http' ? NOTHING : incoming.metadata

const NOTHING = new Metadata()
