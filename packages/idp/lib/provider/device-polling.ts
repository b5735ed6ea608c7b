import { errors, type KoaContextWithOIDC } from 'oidc-provider'
import { textOf } from './parameter-text.js'
import type { ProviderContext } from './provider-context.js'

const KIND = 'DevicePoll'
/** The default polling interval, and the increment of each `slow_down` (RFC 8628). */
const INTERVAL_SECONDS = 5
/** The lifetime of a device code, after which its polling is forgotten. */
const REMEMBERED_SECONDS = 10 * 60

/** Answers `slow_down` to a device that polls before its interval has passed (RFC 8628 section 3.5). */
export function slowDown(ctx: KoaContextWithOIDC, { state: { store }, now }: ProviderContext): void {
  const body = ctx.body as { readonly error?: unknown } | undefined
  if (body?.error !== 'authorization_pending') return
  const code = textOf(ctx.oidc.params, 'device_code')
  const last = store.get(KIND, code) as { readonly at: number; readonly interval: number } | undefined
  const at = now()
  const isEarly = last !== undefined && at - last.at < last.interval
  const interval = (last?.interval ?? INTERVAL_SECONDS) + (isEarly ? INTERVAL_SECONDS : 0)
  store.set(KIND, code, { at, interval }, at + REMEMBERED_SECONDS)
  if (!isEarly) return
  const { error, error_description } = new errors.SlowDown()
  ctx.body = { error, error_description }
}
