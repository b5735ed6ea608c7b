import type { RequestListener } from 'node:http'
import type { MeterProvider } from '@opentelemetry/api'
import { IN_SECONDS } from './instruments.js'

/** Prometheus metrics and the provider that collects them. */
export interface Prometheus {
  readonly provider: MeterProvider
  /** Serves `GET /metrics`. */
  readonly listener: RequestListener
  close(): Promise<void>
}

const PACKAGES = ['@opentelemetry/api', '@opentelemetry/sdk-metrics', '@opentelemetry/exporter-prometheus']

/**
 * Loads the Prometheus packages.
 * @throws TypeError with the packages to install.
 */
export const loadPrometheus = async (): Promise<Prometheus> => {
  const { PrometheusExporter, MeterProvider } = await load()
  const exporter = new PrometheusExporter({ preventServerStart: true })
  // Adds the unit to each name, because the exporter omits it.
  const views = IN_SECONDS.map((name) => ({ instrumentName: name, name: `${name}.seconds` }))
  const provider = new MeterProvider({ readers: [exporter], views })
  return {
    provider,
    listener: (request, response) => {
      const path = request.url?.split('?', 1)[0]
      if (path !== '/metrics') return void response.writeHead(404).end()
      if (request.method !== 'GET' && request.method !== 'HEAD')
        return void response.writeHead(405, { allow: 'GET, HEAD' }).end()
      exporter.getMetricsRequestHandler(request, response)
    },
    close: () => provider.shutdown(),
  }
}

const load = async () => {
  try {
    const [{ PrometheusExporter }, { MeterProvider }] = await Promise.all([
      import('@opentelemetry/exporter-prometheus'),
      import('@opentelemetry/sdk-metrics'),
    ])
    return { PrometheusExporter, MeterProvider }
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new TypeError(`metricsAddr needs packages: npm install ${PACKAGES.join(' ')}`, { cause: error })
  }
}
