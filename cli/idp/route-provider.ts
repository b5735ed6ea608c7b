import { Failure } from '../errors/failure.js'
import { type DaemonAddress, showAddress } from './routes/daemon-address.js'
import { canonicalHost } from './routes/host.js'
import { findRegistry, register } from './routes/route-registry.js'
import { httpUpstream } from './upstream.js'

export const PROVIDER = { host: 'idp.dev.test', port: 8080, project: 'idp', owner: 'de-idp' } as const

export interface UpRequest {
  readonly host: string
  readonly port: number
  /** Overrides `port`. */
  readonly upstream?: string | undefined
  readonly addresses: readonly DaemonAddress[]
  /** Milliseconds for each call to the daemon. Default: 5,000. */
  readonly timeoutMs?: number
}

/** The route after the call, and its previous state. */
export interface UpReport {
  readonly url: string
  readonly host: string
  readonly upstream: string
  readonly daemon: string
  readonly state: 'registered' | 'renewed' | 'moved'
  /** The previous upstream of the host if it was `moved`. */
  readonly previousUpstream?: string
}

/** Registers or renews the route to the identity provider. It neither builds nor runs the provider. */
export async function routeProvider(request: UpRequest): Promise<UpReport> {
  const { addresses, timeoutMs } = request
  const host = canonicalHost(request.host, '--host')
  const upstream =
    request.upstream === undefined ? upstreamAt(request.port) : httpUpstream(request.upstream, '--upstream')
  const registry = await findRegistry(addresses, timeoutMs)
  if (registry === undefined) {
    const where = addresses.map(showAddress).join(' or ')
    throw new Failure(
      'daemon',
      `no daemon listens at ${where}: start devedged, or "npx ashlar-idp edge", then run this again`,
    )
  }
  const known = registry.routes.find((route) => route.host.toLowerCase() === host && route.path === '')
  await register(
    registry.address,
    { host, upstream, project: PROVIDER.project, owner: PROVIDER.owner },
    timeoutMs,
  )
  const report = { url: `https://${host}/`, host, upstream, daemon: showAddress(registry.address) }
  if (known === undefined) return { ...report, state: 'registered' }
  if (known.upstream === upstream) return { ...report, state: 'renewed' }
  return { ...report, state: 'moved', previousUpstream: known.upstream }
}

/** Returns the upstream of a provider on this machine. */
export const upstreamAt = (port: number): string => `http://127.0.0.1:${port}`
