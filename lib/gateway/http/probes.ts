import { OwnStatusError } from './own-status-error.js'
import { type HttpResponse, NOSNIFF } from './respond.js'

/** The paths of health probes. No handler can use them. */
export const PROBES = { live: '/healthz', ready: '/readyz' } as const

export interface ReadinessResult {
  readonly name: string
  readonly ok: boolean
  readonly unreachableWorkers?: readonly string[]
}

export const isProbe = (path: string): boolean => path === PROBES.live || path === PROBES.ready

/**
 * Responds to a probe: 200 with the number of Citus workers that do not answer, or 503 with the names of the
 * failing checks, without their errors.
 * @throws OwnStatusError 405 for methods other than GET and HEAD.
 */
export async function probe(
  path: string,
  httpMethod: string,
  readiness: () => Promise<readonly ReadinessResult[]>,
): Promise<HttpResponse> {
  if (httpMethod !== 'GET' && httpMethod !== 'HEAD')
    throw new OwnStatusError(405, 'UNIMPLEMENTED', 'a probe supports GET and HEAD only', {
      allow: 'GET, HEAD',
    })
  if (path === PROBES.live) return probeResponse(200, { status: 'ok' })
  const results: readonly ReadinessResult[] = await readiness().catch(() => [
    { name: 'readiness', ok: false },
  ])
  const failing = results.filter(({ ok }) => !ok).map(({ name }) => name)
  if (failing.length > 0) return probeResponse(503, { status: 'unavailable', failing })
  const unreachable = results.flatMap(({ unreachableWorkers }) => unreachableWorkers ?? []).length
  return probeResponse(200, { status: 'ok', ...(unreachable > 0 && { unreachable_workers: unreachable }) })
}

const probeResponse = (status: number, body: object): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...NOSNIFF },
  body: JSON.stringify(body),
})
