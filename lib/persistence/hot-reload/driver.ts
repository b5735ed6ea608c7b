import type { DataSourceOptions } from 'typeorm'
import { Unavailable } from '../../errors.js'
import type { DsnDriver } from '../engines/dsn/dsn-engines.js'
import { type DsnLogin, loginOf, withPassword } from './dsn.js'
import type { HotPool, HotPoolOptions } from './pool.js'

/** Returns the password for a new session, such as a token that is valid for a few minutes. */
export type PasswordCallback = (login: DsnLogin) => string | Promise<string>

export interface HotDriverOptions extends Pick<
  HotPoolOptions<unknown>,
  'loginGraceMs' | 'onLoginRefused' | 'onDrained' | 'withPassword'
> {
  /** Returns the module object of `pg` or `mysql2`. */
  readonly module: () => unknown
  /** Returns the first DSN. */
  readonly dsn: () => string
}

/** An engine whose sessions can move to another DSN. */
export interface HotEngine {
  readonly driver: DsnDriver
  /** The driver's package. */
  readonly packageName: 'pg' | 'mysql2'
  /** The values of TypeORM's `type`. The first one is the default. */
  readonly types: readonly [DataSourceOptions['type'], ...DataSourceOptions['type'][]]
  readonly open: (options: HotDriverOptions) => HotDriver
}

/** A replacement for the driver module in TypeORM's `driver` option. */
export interface HotDriver {
  readonly module: object
  /** Returns the pool that TypeORM created, or undefined before that. */
  readonly pool: () => Pick<HotPool<never>, 'replace' | 'refusal' | 'size'> | undefined
}

/**
 * Returns a function that inserts the callback's password into a DSN.
 *
 * @throws Unavailable if the callback fails or does not return a string. The callback's error is omitted,
 *   because it may contain secrets.
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
 * Rejects options of the driver's own pool that this pool does not have.
 *
 * @throws TypeError that names the options.
 */
export function refuseOptions(options: object, names: readonly string[]): void {
  const said = names.filter((name) => name in options)
  if (said.length === 0) return
  throw new TypeError(
    `HotDataSource: remove ${said.join(', ')} from \`extra\`: the driver's own pool, which such options configure, is not used`,
  )
}
