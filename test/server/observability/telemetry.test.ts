import { context, metrics, propagation, SpanKind, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const TRACED = { ...ALICE, traceparent: `00-${TRACE}-${PARENT}-01` }

const COUNT = 'specimens.v1.EchoService/Count'

describe('telemetry', () => {
  const spans = new InMemorySpanExporter()
  const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 3_600_000 })
  let running: RunningServer
  let client: ForeignClient
  let inside: string | undefined

  before(async () => {
    const manager = new AsyncLocalStorageContextManager()
    context.setGlobalContextManager(manager.enable())
    propagation.setGlobalPropagator(new W3CTraceContextPropagator())
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
    )
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
    const note = () => (inside = trace.getActiveSpan()?.spanContext().spanId)
    running = await startServer((builder) =>
      builder
        .register(EchoService, {
          ...echoService,
          echo: ({ text }) => {
            note()
            if (text === 'fail') throw new RangeError('password=hunter2')
            return { text }
          },
          count: async function* ({ upto, pauseMs }, { signal }) {
            for (let n = 1; n <= upto; n++) {
              yield { text: String(n) }
              if (pauseMs > 0) await pause(pauseMs, undefined, { signal })
            }
          },
        })
        .httpHandler('/hello', async () => {
          note()
          return new Response('hello')
        }),
    )
    client = new ForeignClient(EchoService, running.grpc)
  })

  beforeEach(() => spans.reset())

  after(async () => {
    client.close()
    await running.stop()
    context.disable()
    propagation.disable()
    trace.disable()
    metrics.disable()
  })

  const finished = async (count: number): Promise<readonly ReadableSpan[]> => {
    while (spans.getFinishedSpans().length < count) await new Promise((resolve) => setTimeout(resolve, 2))
    return spans.getFinishedSpans()
  }

  it('runs a call in a span that is a child of its caller’s, and is told to the log', async () => {
    running.records.length = 0
    await client.unary('Echo', { text: 'a' }, TRACED)
    const [span] = await finished(1)
    expect(span).to.include({ name: 'specimens.v1.EchoService/Echo', kind: SpanKind.SERVER })
    expect(span?.attributes).to.deep.equal({
      'rpc.system.name': 'grpc',
      'rpc.method': 'specimens.v1.EchoService/Echo',
      'rpc.response.status_code': 'OK',
    })
    expect(span?.parentSpanContext?.spanId).to.equal(PARENT)
    const { traceId, spanId } = span?.spanContext() as { traceId: string; spanId: string }
    expect(traceId).to.equal(TRACE)
    expect(inside).to.equal(spanId)
    expect(running.records[0]?.fields).to.include({ traceId, spanId })
  })

  it('ends the span of a stream with the stream', async () => {
    await client.stream('Count', [{ upto: 3 }], TRACED)
    const [span] = await finished(1)
    expect(span?.attributes).to.include({
      'rpc.method': COUNT,
      'rpc.response.status_code': 'OK',
    })
  })

  for (const [name, headers, code] of [
    ['cancelled', {}, 'CANCELLED'],
    ['expired', { 'grpc-timeout': '30m' }, 'DEADLINE_EXCEEDED'],
  ] as const)
    it(`says so of a stream that was ${name}`, async () => {
      const gone = new AbortController()
      const url = `${running.http}/v1/count?upto=2&pause_ms=60000`
      const response = await fetch(url, { headers: { ...ALICE, ...headers }, signal: gone.signal })
      const read = response.text().catch(() => {})
      if (name === 'cancelled') gone.abort()
      await read
      const rpc = (await finished(2)).find((span) => span.attributes['rpc.method'] === COUNT)
      expect(rpc?.attributes).to.include({ 'rpc.response.status_code': code })
    })

  it('marks what is our fault, without its text, and leaves the mistakes of callers alone', async () => {
    await client.unary('Echo', { text: 'fail' }, ALICE)
    await client.unary('Echo', {}, {})
    const [fault, mistake] = await finished(2)
    expect(fault?.status.code).to.equal(2)
    expect(fault?.attributes).to.include({
      'rpc.response.status_code': 'INTERNAL',
      'error.type': 'Internal',
    })
    expect(JSON.stringify([fault?.attributes, fault?.events, fault?.status])).not.to.contain('hunter2')
    expect(mistake?.status.code).to.equal(0)
    expect(mistake?.attributes).to.include({ 'rpc.response.status_code': 'PERMISSION_DENIED' })
  })

  it('puts a span of HTTP around those of the gateway and of mounted handlers', async () => {
    await fetch(`${running.http}/v1/echo`, post(TRACED))
    const [call, http] = await finished(2)
    expect(http?.name).to.equal('POST /v1/echo')
    expect(http?.attributes).to.include({
      'url.path': '/v1/echo',
      'http.route': '/v1/echo',
      'http.response.status_code': 200,
    })
    expect(http?.parentSpanContext?.spanId).to.equal(PARENT)
    expect(call?.parentSpanContext?.spanId).to.equal(http?.spanContext().spanId)

    spans.reset()
    await fetch(`${running.http}/hello?secret=1`)
    const [mounted] = await finished(1)
    expect(inside).to.equal(mounted?.spanContext().spanId)
    expect(mounted?.name).to.equal('GET')
    expect(mounted?.attributes).to.include({ 'url.path': '/hello' })
  })

  it('makes no span of a probe', async () => {
    await fetch(`${running.http}/healthz`)
    await fetch(`${running.http}/readyz`)
    await fetch(`${running.http}/hello`)
    expect((await finished(1)).map(({ attributes }) => attributes['url.path'])).to.deep.equal(['/hello'])
  })

  it('measures how long calls take', async () => {
    await reader.forceFlush()
    const all = measured
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
    const duration = all.find(({ descriptor }) => descriptor.name === 'rpc.server.call.duration')
    expect(duration?.descriptor.unit).to.equal('s')
    const methods = duration?.dataPoints.map(({ attributes }) => attributes['rpc.method'])
    expect(methods).to.include.members(['specimens.v1.EchoService/Echo', COUNT])
    expect(all.map(({ descriptor }) => descriptor.name)).to.not.include('rpc.server.duration')
  })
})
