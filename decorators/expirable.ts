import { onClass } from './apply.js'
import { declare } from './entity-facts.js'

/** Options of `@Expirable()`. */
export interface ExpirableOptions {
  /**
   * The time from create to expiry, such as `30d`, `12h`, `15m` or `90s`. Without it only server code sets
   * `expire_time`.
   */
  readonly ttl?: string
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3_600e3, d: 86_400e3 }

const LONGEST_MS = 365_000 * 86_400_000

/**
 * Gives the entity an `expire_time`. `purgeExpired` permanently removes expired entities.
 * @example
 * ```ts
 * import { Expirable, Resource, TenantScoped } from 'ashlar'
 * import { Entity, PrimaryColumn } from 'typeorm'
 *
 * @Resource()
 * @Entity('invitations')
 * @TenantScoped()
 * @Expirable({ ttl: '30d' })
 * class Invitation {
 *   @PrimaryColumn() id!: string
 *   expireTime?: Date
 * }
 * ```
 */
export function Expirable(options: ExpirableOptions = {}): ClassDecorator {
  const ttlMs = options.ttl === undefined ? undefined : toMilliseconds(options.ttl)
  return onClass('Expirable', [options], (entity) => {
    declare(entity, 'Expirable', { expirable: { ttlMs } })
  })
}

function toMilliseconds(ttl: string): number {
  const [, amount, unit = ''] = /^([1-9]\d{0,8})([smhd])$/.exec(ttl) ?? []
  if (amount === undefined)
    throw new RangeError(
      `@Expirable: ttl ${JSON.stringify(ttl)} is not a number followed by s, m, h or d, such as 30d`,
    )
  const ms = Number(amount) * (UNIT_MS[unit] ?? 0)
  if (ms > LONGEST_MS) throw new RangeError(`@Expirable: ttl ${ttl} is longer than a thousand years`)
  return ms
}
