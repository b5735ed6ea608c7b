import { isAbsolute } from 'node:path'
import { NO_SSLMODE } from '../../../text/no-sslmode.js'
import { decoded, secretsOf, urlOf } from './dsn-url.js'

/** @inline */
export type DsnDriver = 'postgres' | 'mysql' | 'sqlite'

/** TypeORM's `type` for a `mysql` DSN. The first one is the default. */
export const MYSQL_TYPES = ['mysql', 'mariadb'] as const

/** The DSNs of one engine. */
export interface DsnEngine {
  readonly driver: DsnDriver
  /** The lower-case prefixes of this engine's DSNs, or complete DSNs. */
  readonly begins: readonly string[]
  /**
   * Returns the DSN in the driver's format.
   *
   * @throws TypeError without any part of the DSN in its message.
   */
  readonly checked: (dsn: string, scheme: string) => string
  /** Returns a checked DSN without passwords and parameters. */
  readonly redacted: (dsn: string) => string
}

/** Returns the engine of a DSN that is a URL. */
const server = (driver: DsnDriver, begins: readonly string[], needsHost: boolean): DsnEngine => ({
  driver,
  begins,
  checked: (dsn, scheme) => {
    if (!begins.includes(scheme)) throw new TypeError(`DSN: a ${driver} DSN begins with ${driver}://`)
    if (needsHost && urlOf(dsn).hostname === '') throw new TypeError('DSN: the host is missing')
    if (driver === 'mysql' && urlOf(dsn).searchParams.has('sslmode'))
      throw new TypeError(`DSN: ${NO_SSLMODE}`)
    secretsOf(urlOf(dsn))
    return dsn
  },
  redacted: (dsn) => {
    const { protocol, username, host, pathname, searchParams } = urlOf(dsn)
    const user = username === '' ? (searchParams.get('user') ?? '') : username
    return `${protocol}//${user === '' ? '' : `${user}@`}${host}${pathname}`
  },
})

const sqlite: DsnEngine = {
  driver: 'sqlite',
  begins: ['sqlite:', 'file:', ':memory:'],
  checked: (dsn, scheme) => {
    const path = scheme === '' ? dsn : decoded(dsn.slice(scheme.length).replace(/^\/\/(?=\/)/, ''))
    if (path === ':memory:' || (isAbsolute(path) && !path.startsWith('//'))) return path
    throw new TypeError(
      'DSN: a sqlite DSN is :memory: or an absolute path, such as sqlite:///var/lib/app/data.sqlite',
    )
  },
  redacted: (dsn) => `sqlite:${dsn.replace(/\?.*/s, '')}`,
}

export const DSN_ENGINES: readonly DsnEngine[] = [
  server('postgres', ['postgres:', 'postgresql:'], false),
  server('mysql', ['mysql:', 'mariadb:'], true),
  sqlite,
]

/** Returns the file of a checked SQLite DSN, or `:memory:`. Returns undefined for engines with a server. */
export const databaseFile = ({ driver, dsn }: { readonly driver: DsnDriver; readonly dsn: string }) =>
  driver === 'sqlite' ? dsn : undefined
