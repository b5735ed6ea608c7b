import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { Unavailable } from '../../errors.js'

const DRIVERS = ['postgres', 'mysql', 'sqlite'] as const

export type DsnDriver = (typeof DRIVERS)[number]

/** A file that holds a DSN, as `fsnotify://<driver>/<absolute path>` names it. */
export interface DsnFile {
  readonly driver: DsnDriver
  readonly path: string
}

/** A DSN as the driver takes it: a URL, or for SQLite the `database` of a SqliteDataSource. */
export interface ResolvedDsn {
  readonly driver: DsnDriver
  readonly dsn: string
  /** The file it was read from; undefined when it was given directly. */
  readonly path: string | undefined
}

/** Who logs in where. */
export interface DsnLogin {
  readonly user: string
  readonly host: string
  readonly port: number | undefined
  readonly database: string
}

const FORM = `fsnotify://<driver>/<absolute path>, such as fsnotify://postgres/etc/secrets/dsn`
const LONGEST = 64 * 1024
const SCHEMES: Readonly<Record<string, DsnDriver>> = {
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
  'mysql:': 'mysql',
  'mariadb:': 'mysql',
}

/**
 * The file that an `fsnotify://` DSN points at; undefined for any other text.
 * @throws TypeError saying what is wrong with it. A mistyped DSN may hold a password, so the text is not repeated.
 */
export function parseHotDsn(dsn: string): DsnFile | undefined {
  if (!/^fsnotify:/i.test(dsn.trim())) return undefined
  const parts = /^fsnotify:\/\/([^/?#]*)([^?#]*)([?#].*)?$/is.exec(dsn.trim())
  if (parts === null) throw new TypeError(`DSN: write ${FORM}`)
  const [, driver = '', written = '', rest] = parts
  if (!isDriver(driver))
    throw new TypeError(`DSN: the driver${named(driver)} is not one of ${DRIVERS.join(', ')}: ${FORM}`)
  if (rest !== undefined)
    throw new TypeError('DSN: nothing follows the path: write ? and # in it as %3F and %23')
  return { driver, path: filePath(written) }
}

/**
 * The DSN itself, read from its file when `dsn` is an `fsnotify://` one.
 * @throws TypeError for text that is no DSN. @throws Unavailable when the file cannot be read or is empty.
 */
export async function resolveDsn(dsn: string): Promise<ResolvedDsn> {
  const file = parseHotDsn(dsn)
  if (file === undefined) return { ...checkDsn(dsn), path: undefined }
  return { ...checkDsn(await readDsnFile(file.path), file.driver), path: file.path }
}

/**
 * What the file holds, without the white space around it.
 * @throws Unavailable that says what to do when it cannot be read, is empty, too large or no text.
 */
export async function readDsnFile(path: string): Promise<string> {
  let bytes: Buffer
  try {
    // A pipe would keep whoever opens it waiting.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    bytes = await startOf(file).finally(() => file.close())
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw new Unavailable(`DSN: the file ${path} cannot be read (${code}): ${ADVICE[code] ?? 'see to it'}`)
  }
  if (bytes.length > LONGEST)
    throw new Unavailable(
      `DSN: the file ${path} is larger than ${LONGEST} bytes: write the DSN alone into it`,
    )
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim()
  } catch {
    throw new Unavailable(`DSN: the file ${path} is not UTF-8: write the DSN into it as plain text`)
  }
  if (text === '') throw new Unavailable(`DSN: the file ${path} is empty: write the DSN into it`)
  return text
}

const ADVICE: Readonly<Record<string, string>> = {
  ENOENT: 'create it, mount it, or correct the path',
  ENOTDIR: 'a part of its path is a file: correct the path',
  EACCES: 'let the user of this process read it',
  EISDIR: 'it is a folder: name the file in it that holds the DSN',
  ELOOP: 'its symbolic links lead in a circle',
  ENXIO: 'it is a socket: name a regular file',
  ESPIPE: 'it is a pipe or a device: name a regular file',
}

/** One byte more than a DSN may have, at most. */
async function startOf(file: FileHandle): Promise<Buffer> {
  const stat = await file.stat()
  if (stat.isDirectory()) throw Object.assign(new TypeError(), { code: 'EISDIR' })
  if (!stat.isFile()) throw Object.assign(new TypeError(), { code: 'ESPIPE' })
  const bytes = Buffer.alloc(LONGEST + 1)
  let length = 0
  for (;;) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, length)
    length += bytesRead
    if (bytesRead === 0 || length === bytes.length) return bytes.subarray(0, length)
  }
}

/**
 * The DSN of a driver as it will be used.
 * @param driver - what it must be for; found by its scheme when undefined.
 * @throws TypeError that repeats nothing of it.
 */
export function checkDsn(text: string, driver?: DsnDriver): Omit<ResolvedDsn, 'path'> {
  const dsn = text.trim()
  if (dsn.length > LONGEST) throw new TypeError(`DSN: longer than ${LONGEST} characters`)
  // A control character is what is looked for.
  if (/[\0-\x1f\x7f]/.test(dsn)) throw new TypeError('DSN: one line, without control characters')
  if (/^fsnotify:/i.test(dsn))
    throw new TypeError('DSN: the file holds the DSN itself, not another fsnotify: one')
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(dsn)?.[0].toLowerCase() ?? ''
  const found = driver ?? SCHEMES[scheme] ?? (isSqlite(dsn, scheme) ? 'sqlite' : undefined)
  if (found === undefined)
    throw new TypeError(`DSN: begin it with postgres://, mysql:// or sqlite://, or write ${FORM}`)
  if (found === 'sqlite') return { driver: found, dsn: sqliteDatabase(dsn, scheme) }
  if (SCHEMES[scheme] !== found) throw new TypeError(`DSN: one for ${found} begins with ${found}://`)
  if (found === 'mysql' && urlOf(dsn).hostname === '') throw new TypeError('DSN: it names no host')
  secretsOf(urlOf(dsn))
  return { driver: found, dsn }
}

/** User, host and database of a DSN, for people to read: no password and no parameter is in it. */
export function redactDsn(dsn: string): string {
  try {
    const file = parseHotDsn(dsn)
    if (file !== undefined) return `fsnotify://${file.driver}${file.path}`
    const checked = checkDsn(dsn)
    if (checked.driver === 'sqlite') return `sqlite:${checked.dsn.replace(/\?.*/s, '')}`
    const { protocol, username, host, pathname, searchParams } = urlOf(dsn)
    const user = username === '' ? (searchParams.get('user') ?? '') : username
    return `${protocol}//${user === '' ? '' : `${user}@`}${host}${pathname}`
  } catch {
    return 'a DSN that cannot be read'
  }
}

/** `text` with every password of the DSN in it replaced by three asterisks. */
export function hidePasswords(text: string, dsn: string): string {
  return [...passwordsOf(dsn)].reduce((left, secret) => left.replaceAll(secret, '***'), text)
}

/** Who logs in where with a DSN of `postgres` or `mysql`. */
export function loginOf(dsn: string): DsnLogin {
  const { username, hostname, port, pathname, searchParams } = urlOf(dsn)
  return {
    user: decoded(username) || (searchParams.get('user') ?? ''),
    host: searchParams.get('host') ?? hostname,
    port: port === '' ? undefined : Number(port),
    database: decoded(pathname.slice(1)),
  }
}

/** The DSN with another password. */
export function withPassword(dsn: string, password: string): string {
  const url = urlOf(dsn)
  // One among the parameters would go before it.
  url.searchParams.delete('password')
  // `URL` leaves a % as it is.
  url.password = encodeURIComponent(password)
  return url.href
}

const isDriver = (text: string): text is DsnDriver => (DRIVERS as readonly string[]).includes(text)

/** What looks like a driver's name may be repeated; anything else may be the start of a password. */
const named = (text: string): string => (/^[a-z][a-z0-9]{0,15}$/i.test(text) ? ` "${text}"` : '')

function filePath(written: string): string {
  const path = decoded(written).replaceAll(/\/{2,}/g, '/')
  if (path === '' || path === '/') throw new TypeError(`DSN: the path of the file is missing: ${FORM}`)
  if (path.endsWith('/'))
    throw new TypeError('DSN: the path ends in /, so it names a folder instead of a file')
  if (/(?:^|\/)\.\.?(?:\/|$)/.test(path)) throw new TypeError('DSN: write the path without . and .. in it')
  if (path.includes('\0')) throw new TypeError('DSN: the path has a NUL in it')
  return path
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new TypeError('DSN: a % that begins no percent-encoding: write it as %25')
  }
}

const isSqlite = (dsn: string, scheme: string): boolean =>
  scheme === 'sqlite:' || scheme === 'file:' || dsn === ':memory:'

function sqliteDatabase(dsn: string, scheme: string): string {
  const path = scheme === '' ? dsn : decoded(dsn.slice(scheme.length).replace(/^\/\/(?=\/)/, ''))
  if (path === ':memory:' || (isAbsolute(path) && !path.startsWith('//'))) return path
  throw new TypeError(
    'DSN: one for sqlite is :memory: or an absolute path, such as sqlite:///var/lib/app/data.sqlite',
  )
}

/** `pg` takes a user without a host, as in `postgres://ada@/app?host=/run/postgresql`; Node's URL does not. */
function urlOf(dsn: string): URL {
  if (URL.canParse(dsn)) return new URL(dsn)
  const withHost = dsn.replace('@/', '@localhost/')
  if (/^postgres/i.test(dsn) && URL.canParse(withHost)) return new URL(withHost)
  throw new TypeError(
    'DSN: not a URL: percent-encode what is not a letter or a digit in its user and password',
  )
}

function secretsOf(url: URL): readonly string[] {
  const { password, username, searchParams } = url
  decoded(username)
  const queried = [...searchParams]
    .filter(([name]) => /pass|secret|token/i.test(name))
    .map(([, value]) => value)
  return [password, decoded(password), ...queried, ...queried.map(encodeURIComponent)].filter(
    (secret) => secret !== '',
  )
}

function passwordsOf(dsn: string): ReadonlySet<string> {
  try {
    return new Set(checkDsn(dsn).driver === 'sqlite' ? [] : secretsOf(urlOf(dsn)))
  } catch {
    return new Set([dsn])
  }
}
