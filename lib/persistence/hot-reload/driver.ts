import type { DataSourceOptions } from 'typeorm'
import { Unavailable } from '../../errors.js'
import type { DsnDriver } from '../engines/dsn/dsn-engines.js'
import { type DsnLogin, loginOf, withPassword } from './dsn.js'
import type { HotPool, HotPoolOptions } from './pool.js'

/** Returns the password for a new session, such as a token that is valid for some minutes. */
export type PasswordCallback = (login: DsnLogin) => string | Promise<string>

export interface HotDriverOptions extends Pick<
  HotPoolOptions<unknown>,
  'loginGraceMs' | 'onLoginRefused' | 'onDrained' | 'withPassword'
> {
  /** The module object of `pg` or `mysql2`. */
  readonly module: () => unknown
  /** The first DSN. */
  readonly dsn: () => string
}

/** An engine whose sessions can move to another DSN. */
export interface HotEngine {
  readonly driver: DsnDriver
  /** The package of the driver. */
  readonly packageName: 'pg' | 'mysql2'
  /** TypeORM's `type`, the default first. */
  readonly types: readonly [DataSourceOptions['type'], ...DataSourceOptions['type'][]]
  readonly open: (options: HotDriverOptions) => HotDriver
}

/** The replacement for a driver in TypeORM's `driver` option. */
export interface HotDriver {
  readonly module: object
  /** The pool that TypeORM created with it; undefined before that. */
  readonly pool: () => Pick<HotPool<never>, 'replace' | 'refusal' | 'size'> | undefined
}

/**
 * Puts the password of a callback into a DSN.
 * @throws Unavailable when the callback fails or returns no text. Its own error is left out, because it may
 * be secret.
 */
export function askingFor(password: PasswordCallback | undefined): HotPoolOptions<unknown>['withPassword'] {
  return async (dsn) => {
    if (password === undefined) return dsn
    let found: unknown
    try {
      found = await password(loginOf(dsn))
    } catch (error) {
      throw new Unavailable(`the password callback failed${error instanceof Error ? ` (${error.name})` : ''}`)
    }
    if (typeof found === 'string' && found !== '') return withPassword(dsn, found)
    throw new Unavailable('the password callback returned no password: return a non-empty string')
  }
}

/**
 * Options that the driver's own pool has and this one lacks.
 * @throws TypeError that names the options.
 */
export function refuseOptions(options: object, names: readonly string[]): void {
  const said = names.filter((name) => name in options)
  if (said.length === 0) return
  throw new TypeError(
    `HotDataSource: remove ${said.join(', ')} from \`extra\`: it configures the driver's own pool, which is not used`,
  )
}
