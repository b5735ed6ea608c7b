import { Unavailable } from '../../errors.js'
import { readTextFile } from '../../files/text-file.js'
import { DSN_ENGINES, type DsnDriver, type DsnEngine } from '../engines/dsn/dsn-engines.js'
import { decoded, urlOf } from '../engines/dsn/dsn-url.js'

/** A file with a DSN, given as `fsnotify://<driver>/<absolute path>`. */
export interface DsnFile {
  readonly driver: DsnDriver
  readonly path: string
}

/** A DSN in the driver's format: a URL, or for SQLite the `database` of a SqliteDataSource. */
export interface ResolvedDsn {
  readonly driver: DsnDriver
  readonly dsn: string
  /** The file that contained it. Undefined if the DSN was given directly. */
  readonly path: string | undefined
}

/** The login data in a DSN. */
export interface DsnLogin {
  readonly user: string
  readonly host: string
  readonly port: number | undefined
  readonly database: string
}

const FORM = `fsnotify://<driver>/<absolute path>, such as fsnotify://postgres/etc/secrets/dsn`
const LONGEST = 64 * 1024
/**
 * Returns the file of an `fsnotify://` DSN, or undefined for other strings.
 *
 * @throws TypeError with the problem. It does not contain the DSN, because a mistyped one may contain a
 *   password.
 */
export function parseHotDsn(dsn: string): DsnFile | undefined {
  if (!/^fsnotify:/i.test(dsn.trim())) return undefined
  const parts = /^fsnotify:\/\/([^/?#]*)([^?#]*)([?#].*)?$/is.exec(dsn.trim())
  if (parts === null) throw new TypeError(`DSN: write ${FORM}`)
  const [, driver = '', written = '', rest] = parts
  const engine = DSN_ENGINES.find((one) => one.driver === driver)
  if (engine === undefined)
    throw new TypeError(
      `DSN: the driver${named(driver)} is not one of ${DSN_ENGINES.map((one) => one.driver).join(', ')}: ${FORM}`,
    )
  if (rest !== undefined)
    throw new TypeError('DSN: nothing may follow the path: write ? and # in it as %3F and %23')
  return { driver: engine.driver, path: filePath(written) }
}

/**
 * Returns the DSN. If `dsn` begins with `fsnotify://`, reads it from the file.
 *
 * @throws TypeError if the DSN is invalid.
 * @throws Unavailable if the file cannot be read or is empty.
 */
export async function resolveDsn(dsn: string): Promise<ResolvedDsn> {
  const file = parseHotDsn(dsn)
  if (file === undefined) return { ...checkDsn(dsn), path: undefined }
  return { ...checkDsn(await readDsnFile(file.path), file.driver), path: file.path }
}

/**
 * Returns the content of the file without surrounding white space.
 *
 * @throws Unavailable, with advice, if the file cannot be read, is empty, is too large, or is not text.
 */
export async function readDsnFile(path: string): Promise<string> {
  const read = readTextFile(path, 'the DSN', LONGEST).catch((error: Error) => {
    throw new Unavailable(`DSN: ${error.message}`)
  })
  const text = (await read).trim()
  if (text === '') throw new Unavailable(`DSN: the file ${path} is empty: write the DSN into it`)
  return text
}

/**
 * Checks a DSN and returns it in the driver's format.
 *
 * @param driver - the required driver. Default: the driver of the scheme.
 * @throws TypeError without any part of the DSN.
 */
export function checkDsn(text: string, driver?: DsnDriver): Omit<ResolvedDsn, 'path'> {
  const { engine, dsn } = checkedDsn(text, driver)
  return { driver: engine.driver, dsn }
}

function checkedDsn(text: string, driver?: DsnDriver): { engine: DsnEngine; dsn: string } {
  const dsn = text.trim()
  if (dsn.length > LONGEST) throw new TypeError(`DSN: longer than ${LONGEST} characters`)
  // Control characters are intended here.
  if (/[\0-\x1f\x7f]/.test(dsn)) throw new TypeError('DSN: must be one line, without control characters')
  if (/^fsnotify:/i.test(dsn))
    throw new TypeError('DSN: the file must contain the DSN itself, not another fsnotify: URL')
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(dsn)?.[0].toLowerCase() ?? ''
  const engine = DSN_ENGINES.find((one) =>
    driver === undefined ? one.begins.includes(scheme || dsn) : one.driver === driver,
  )
  if (engine === undefined)
    throw new TypeError(`DSN: begin it with postgres://, mysql:// or sqlite://, or write ${FORM}`)
  return { engine, dsn: engine.checked(dsn, scheme) }
}

/** Returns the user, host and database of a DSN for messages, without password and parameters. */
export function redactDsn(dsn: string): string {
  try {
    const file = parseHotDsn(dsn)
    if (file !== undefined) return `fsnotify://${file.driver}${file.path}`
    const checked = checkedDsn(dsn)
    return checked.engine.redacted(checked.dsn)
  } catch {
    return 'a DSN that cannot be read'
  }
}

/** Returns the login data of a `postgres` or `mysql` DSN. */
export function loginOf(dsn: string): DsnLogin {
  const { username, hostname, port, pathname, searchParams } = urlOf(dsn)
  return {
    user: decoded(username) || (searchParams.get('user') ?? ''),
    host: searchParams.get('host') ?? hostname,
    port: port === '' ? undefined : Number(port),
    database: decoded(pathname.slice(1)),
  }
}

/** Returns the DSN with a different password. */
export function withPassword(dsn: string, password: string): string {
  const url = urlOf(dsn)
  // A password parameter would take precedence.
  url.searchParams.delete('password')
  // `URL` does not escape a %.
  url.password = encodeURIComponent(password)
  return url.href
}

/**
 * Quotes a string that looks like a driver's name. Other strings may begin with a password and are not
 * repeated.
 */
const named = (text: string): string => (/^[a-z][a-z0-9]{0,15}$/i.test(text) ? ` "${text}"` : '')

function filePath(written: string): string {
  const path = decoded(written).replaceAll(/\/{2,}/g, '/')
  if (path === '' || path === '/') throw new TypeError(`DSN: the path of the file is missing: ${FORM}`)
  if (path.endsWith('/'))
    throw new TypeError('DSN: the path ends in /, so it names a folder instead of a file')
  if (/(?:^|\/)\.\.?(?:\/|$)/.test(path))
    throw new TypeError('DSN: the path must not contain . or .. segments')
  if (path.includes('\0')) throw new TypeError('DSN: the path contains a NUL character')
  return path
}
