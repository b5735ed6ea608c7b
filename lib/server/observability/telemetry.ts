import type { Attributes, Span, TextMapGetter } from '@opentelemetry/api'
import type { Metadata } from '../../call.js'

type Api = typeof import('@opentelemetry/api')

/** What a log record and a trace have in common. */
export interface TraceIds {
  readonly traceId: string
  readonly spanId: string
}

/** A piece of work that is measured. */
export interface Measured {
  readonly name: string
  /** Known from the start. */
  readonly attributes: Attributes
  /** Where the caller's own span is found. */
  readonly carrier: Metadata
}

/** How measured work ended. */
export interface Ending {
  readonly attributes: Attributes
  readonly isFault: boolean
  /** What broke on our side; its message goes nowhere, its name into the span. */
  readonly error?: unknown
}

const NAME = 'ashlar'

/**
 * Spans and metrics through the OpenTelemetry API package (semantic conventions for RPC and HTTP). Without a registered provider
 * they cost next to nothing.
 */
export class Telemetry {
  readonly #api: Api
  readonly #isMetered: boolean
  readonly #rpcDuration
  readonly #ignoredMasks

  constructor(api: Api) {
    this.#api = api
    const meter = api.metrics.getMeter(NAME)
    this.#isMetered = meter !== api.createNoopMeter()
    this.#rpcDuration = meter.createHistogram('rpc.server.duration', {
      unit: 'ms',
      description: 'Duration of calls, as the server sees them.',
    })
    this.#ignoredMasks = meter.createCounter('ashlar.gateway.ignored_update_masks', {
      description: 'Updates whose mask the gateway ignored in part.',
    })
  }

  /** Whether anybody registered to hear of spans or metrics; asked each time, for a provider may come late. */
  get isHeard(): boolean {
    const { trace, propagation, ProxyTracerProvider } = this.#api
    if (this.#isMetered || propagation.fields().length > 0) return true
    const provider = trace.getTracerProvider()
    return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(NAME) !== undefined
  }

  /** Runs `work` in a span that is the current one inside. `work` says how it ended by the function it is given. */
  span<R>(
    { name, attributes, carrier }: Measured,
    work: (ids: TraceIds | undefined, end: (ending: Ending) => void) => R,
  ): R {
    const { trace, context, propagation, SpanKind } = this.#api
    const parent = propagation.extract(context.active(), carrier, GETTER)
    const span = trace.getTracer(NAME).startSpan(name, { kind: SpanKind.SERVER, attributes }, parent)
    const since = performance.now()
    const end = (ending: Ending) => this.#end(span, attributes, performance.now() - since, ending)
    const ids = span.spanContext()
    // Without a provider there is nothing to make current, and no storage is entered for it.
    if (!this.#api.isSpanContextValid(ids)) return work(undefined, end)
    return context.with(trace.setSpan(parent, span), () =>
      work({ traceId: ids.traceId, spanId: ids.spanId }, end),
    )
  }

  countIgnoredMask(method: string): void {
    this.#ignoredMasks.add(1, { 'rpc.method': method })
  }

  #end(span: Span, known: Attributes, durationMs: number, { attributes, isFault, error }: Ending): void {
    if ('rpc.system' in known) this.#rpcDuration.record(durationMs, { ...known, ...attributes })
    span.setAttributes(attributes)
    if (isFault) span.setStatus({ code: this.#api.SpanStatusCode.ERROR })
    if (isFault && error instanceof Error) span.setAttribute('error.type', error.name)
    span.end()
  }
}

/** The telemetry of this process; undefined where the API package is not installed. */
export const loadTelemetry = async (): Promise<Telemetry | undefined> => {
  try {
    return new Telemetry(await import('@opentelemetry/api'))
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

const GETTER: TextMapGetter<Metadata> = {
  keys: (carrier) => [...new Set([...carrier.entries()].map(([name]) => name))],
  get: (carrier, key) => carrier.get(key),
}
