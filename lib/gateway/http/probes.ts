import { HttpError } from './http-error.js'
import { type Answer, NOSNIFF } from './respond.js'

/** Paths that answer the platform; no handler can claim them. */
export const PROBES = { live: '/healthz', ready: '/readyz' } as const

export interface ReadinessResult {
  readonly name: string
  readonly ok: boolean
}

export const isProbe = (path: string): boolean => path === PROBES.live || path === PROBES.ready

/**
 * Answers a probe: 200, or 503 naming the checks that fail, without their errors.
 * @throws HttpError 405 for anything but GET and HEAD.
 */
export async function probe(
  path: string,
  httpMethod: string,
  readiness: () => Promise<readonly ReadinessResult[]>,
): Promise<Answer> {
  if (httpMethod !== 'GET' && httpMethod !== 'HEAD')
    throw new HttpError(405, 'UNIMPLEMENTED', 'a probe answers GET and HEAD only', { allow: 'GET, HEAD' })
  if (path === PROBES.live) return answer(200, { status: 'ok' })
  const failing = await failingChecks(readiness)
  return failing.length === 0
    ? answer(200, { status: 'ok' })
    : answer(503, { status: 'unavailable', failing })
}

async function failingChecks(
  readiness: () => Promise<readonly ReadinessResult[]>,
): Promise<readonly string[]> {
  try {
    return (await readiness()).filter(({ ok }) => !ok).map(({ name }) => name)
  } catch {
    return ['readiness']
  }
}

const answer = (status: number, body: object): Answer => ({
  status,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...NOSNIFF },
  body: JSON.stringify(body),
})
