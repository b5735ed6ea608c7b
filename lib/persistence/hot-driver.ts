import type { Login } from './dsn.js'
import type { HotPool, HotPoolOptions } from './hot-pool.js'

/** Answers the password for a session that is about to be opened, such as a token that is valid for some minutes. */
export type PasswordCallback = (login: Login) => string | Promise<string>

export interface HotDriverOptions extends Pick<
  HotPoolOptions<unknown>,
  'loginGraceMs' | 'onLoginRefused' | 'onDrained'
> {
  /** The module object of `pg` or `mysql2`. */
  readonly module: () => unknown
  /** The DSN to begin with. */
  readonly dsn: () => string
  readonly password: PasswordCallback | undefined
}

/** What stands for a driver in TypeORM's `driver` option. */
export interface HotDriver {
  readonly module: object
  /** The pool that TypeORM made of it; undefined before that. */
  readonly pool: () => Pick<HotPool<never>, 'replace' | 'size'> | undefined
}
