import type { Attributes, Meter, MeterProvider, Span, TextMapGetter } from '@opentelemetry/api'
import type { Metadata } from '../../call.js'
import type { TraceIds } from '../../context.js'
import { type Instruments, instrumentsOf, recordStatements } from './instruments.js'
import type { ObservedWorker } from './observed-worker.js'

type Api = typeof import('@opentelemetry/api')

/** Work to be measured. */
export interface Measured {
  readonly name: string
  /** The attributes known from the beginning. */
  readonly attributes: Attributes
  /** The metadata that contains the caller's span. */
  readonly carrier: Metadata
}

/** The result of measured work. */
export interface Ending {
  /** The name, if it becomes known only at the end. */
  readonly name?: string
  readonly attributes: Attributes
  readonly isFault: boolean
  /** The server's error. Its name is recorded in the span; its message is not. */
  readonly error?: unknown
}

const NAME = 'ashlar'

/**
 * Spans and metrics through the OpenTelemetry API package (semantic conventions for RPC and HTTP). Without a
 * registered provider the overhead is negligible.
 */
export class Telemetry {
  readonly #api: Api
  readonly #instruments: readonly Instruments[]
  #stop = () => {}

  /** @param own - the server's meter provider, in addition to the one that the application has registered. */
  constructor(api: Api, own: MeterProvider | undefined) {
    this.#api = api
    const meters = [api.metrics.getMeter(NAME), own?.getMeter(NAME)]
    this.#instruments = meters
      .filter((meter) => meter !== undefined && meter !== api.createNoopMeter())
      .map((meter) => instrumentsOf(meter as Meter))
  }

  /**
   * True if spans or metrics are recorded. Evaluated each time, because a provider may be registered later.
   */
  get isHeard(): boolean {
    const { trace, propagation, ProxyTracerProvider } = this.#api
    if (this.#instruments.length > 0 || propagation.fields().length > 0) return true
    const provider = trace.getTracerProvider()
    return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(NAME) !== undefined
  }

  /**
   * Runs `work` inside a new span, which is the current span for that time. `work` calls its argument to
   * report the outcome.
   */
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
    // Without a provider there is no span to make current, so no async storage is entered.
    if (!this.#api.isSpanContextValid(ids)) return work(undefined, end)
    return context.with(trace.setSpan(parent, span), () =>
      work({ traceId: ids.traceId, spanId: ids.spanId }, end),
    )
  }

  /** Starts measuring statements, and the progress of workers in the process that does the work. */
  start(workers: readonly ObservedWorker[]): void {
    if (this.#instruments.length === 0) return
    this.#stop = recordStatements(this.#instruments.map(({ statementDuration }) => statementDuration))
    if (workers.length === 0) return
    for (const { lag } of this.#instruments)
      lag.addCallback(async (result) => {
        for (const worker of workers) {
          const status = await worker.status?.()
          if (status?.isLeading === true) result.observe(status.lag, { 'ashlar.events.worker': status.name })
        }
      })
  }

  /** Stops the measurements that `start` has begun. */
  stop(): void {
    this.#stop()
  }

  countIgnoredMask(method: string): void {
    for (const { ignoredMasks } of this.#instruments) ignoredMasks.add(1, { 'rpc.method': method })
  }

  #end(
    span: Span,
    known: Attributes,
    durationMs: number,
    { name, attributes, isFault, error }: Ending,
  ): void {
    // Paths contain ids, so each would create a time series.
    const { 'url.path': _path, ...measured } = { ...known, ...attributes }
    const isCall = 'rpc.system.name' in known
    for (const { rpcDuration, httpDuration } of this.#instruments)
      (isCall ? rpcDuration : httpDuration).record(durationMs / 1000, measured)
    if (name !== undefined) span.updateName(name)
    span.setAttributes({ ...known, ...attributes })
    if (isFault) span.setStatus({ code: this.#api.SpanStatusCode.ERROR })
    if (isFault && error instanceof Error) span.setAttribute('error.type', error.name)
    span.end()
  }
}

/** Returns the telemetry of this process; undefined if the API package is not installed. */
export const loadTelemetry = async (own: MeterProvider | undefined): Promise<Telemetry | undefined> => {
  try {
    return new Telemetry(await import('@opentelemetry/api'), own)
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

const GETTER: TextMapGetter<Metadata> = {
  keys: (carrier) => [...new Set([...carrier.entries()].map(([name]) => name))],
  get: (carrier, key) => carrier.get(key),
}
