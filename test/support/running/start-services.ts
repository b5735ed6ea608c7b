import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'
import { freePort } from '../free-port.js'
import { pgBouncerSettings } from './pgbouncer.js'
import { ABSENT, type Service, SERVICES, serviceUrl } from './services.js'

/** The environment for the tests of a run, and a function that stops the servers that it started. */
export interface StartedServices {
  readonly environment: Readonly<Record<string, string>>
  readonly missing: readonly { readonly service: Service; readonly why: string }[]
  readonly notes: readonly string[]
  stop(): Promise<void>
}

/** The servers that wait for the disk at each commit, unless they were started for the run. */
const DURABLE: readonly Service[] = ['postgres', 'mysql']

/**
 * Uses the servers that respond and starts the others from the installed programs, in temporary folders and
 * never as root.
 * @param isWhole - whether all tests will run. If so, the databases are started for the run as well, unless
 *   a
 * variable names one.
 */
export async function startServices(wanted: readonly Service[], isWhole: boolean): Promise<StartedServices> {
  const environment: Record<string, string> = {}
  const missing: { service: Service; why: string }[] = []
  const notes: string[] = []
  const running: StartedService[] = []
  for (const service of wanted) {
    const { variable, local } = SERVICES[service]
    const said = process.env[variable]
    const isNamed = said !== undefined && said !== ''
    const url = isNamed ? said : local
    const isTaken = async () => {
      if (url === undefined || url === ABSENT || !(await answers(service, url))) return false
      environment[variable] = url
      notes.push(`${service}: the one that listens at ${new URL(url).host}`)
      return true
    }
    const isOwn = isWhole && !isNamed && DURABLE.includes(service)
    if (!isOwn && (await isTaken())) continue
    try {
      if (url === ABSENT) throw new TypeError(`${variable} says that there is none`)
      const started = await start(service, environment[SERVICES.postgres.variable])
      running.push(started)
      environment[variable] = started.url
      notes.push(`${service}: started for this run at ${new URL(started.url).host}`)
    } catch (error) {
      if (isOwn && (await isTaken())) continue
      environment[variable] = ABSENT
      missing.push({ service, why: error instanceof Error ? error.message : String(error) })
    }
  }
  const stop = async () => {
    for (const service of running.splice(0).reverse()) await service.stop()
  }
  return { environment, missing, notes, stop }
}

/** A server in its own temporary folder. */
export interface StartedService {
  readonly url: string
  readonly hasEnded: boolean
  /** Returns the output of the server so far. */
  log(): string
  kill(): Promise<void>
  /** Kills the server and starts it again with the data on its disk. */
  restart(): Promise<void>
  /** Suspends the processes of the server. Its connections stay open but do not respond. */
  freeze(): void
  thaw(): void
  stop(): Promise<void>
}

interface Place {
  readonly as: Identity
  readonly port: number
  readonly postgres: string | undefined
}

/** How a server is prepared and run in `folder`. {@link program} finds the path of its program. */
interface Recipe {
  readonly program: string
  readonly users: readonly string[]
  readonly url: (port: number) => string
  /** The signal that shuts the server down cleanly and at once. Default: SIGTERM. */
  readonly goodbye?: NodeJS.Signals
  prepare?(folder: string, place: Place): void
  arguments(folder: string, port: number): readonly string[]
}

const quiet = { stdio: 'pipe', timeout: 120_000 } as const

const RECIPES: Readonly<Record<Service, Recipe>> = {
  postgres: {
    program: 'postgres',
    users: ['postgres', 'nobody'],
    goodbye: 'SIGINT',
    url: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
    prepare: (folder, { as }) =>
      execFileSync(
        program('initdb'),
        [
          '-D',
          join(folder, 'data'),
          '-U',
          'postgres',
          '-A',
          'trust',
          '-E',
          'UTF8',
          '--locale=C.UTF-8',
          '--no-sync',
        ],
        { ...quiet, ...as, cwd: folder },
      ),
    arguments: (folder, port) => [
      ...['-D', join(folder, 'data'), '-p', String(port), '-k', folder, '-h', '127.0.0.1'],
      // Detect deadlocks sooner than after the default of one second, because tests run such races many
      // times.
      ...[
        ...['fsync=off', 'full_page_writes=off', 'max_wal_size=1GB', 'max_connections=300'],
        'deadlock_timeout=100ms',
        // Test tables are small, so compiling a query takes longer than running it.
        'jit=off',
      ].flatMap((setting) => ['-c', setting]),
    ],
  },
  pgbouncer: {
    program: 'pgbouncer',
    users: ['postgres', 'nobody'],
    url: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
    prepare: (folder, { port, postgres }) =>
      writeFileSync(join(folder, 'pgbouncer.ini'), pgBouncerSettings(port, postgres)),
    arguments: (folder) => [join(folder, 'pgbouncer.ini')],
  },
  mysql: {
    program: 'mariadbd',
    users: ['mysql', 'nobody'],
    url: (port) => `mysql://root@127.0.0.1:${port}/test`,
    prepare: (folder, { as }) =>
      execFileSync(
        program('mariadb-install-db'),
        [
          ...[
            '--no-defaults',
            `--datadir=${join(folder, 'data')}`,
            '--auth-root-authentication-method=normal',
          ],
          // The test database comes with anonymous users, which match before other users of this machine.
          '--skip-test-db',
        ],
        { ...quiet, ...as, cwd: folder },
      ),
    arguments: (folder, port) => [
      ...['--no-defaults', `--datadir=${join(folder, 'data')}`, `--port=${port}`, '--bind-address=127.0.0.1'],
      ...[
        `--socket=${join(folder, 'mysql.sock')}`,
        `--pid-file=${join(folder, 'mysql.pid')}`,
        '--max-connections=300',
      ],
      // Committed rows survive a killed server, because they are in the cache of the operating system. No
      // commit waits for the disk.
      ...['--debug-no-sync', '--innodb-flush-log-at-trx-commit=2', '--innodb-flush-method=fsync'],
      '--skip-innodb-doublewrite',
      // With persistent statistics, a schema change waits for the schema changes of other tests.
      '--innodb-stats-persistent=0',
    ],
  },
  redis: {
    program: 'redis-server',
    users: ['redis', 'nobody'],
    url: (port) => `redis://127.0.0.1:${port}`,
    arguments: (folder, port) => [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'],
    ],
  },
  nats: {
    program: 'nats-server',
    users: ['nobody'],
    url: (port) => `nats://127.0.0.1:${port}`,
    arguments: (folder, port) => ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', folder],
  },
}

/**
 * Starts a server for `test`. Skips the test if the run has no server of this kind.
 * @param given - a port that is already chosen. @param more - more arguments for the program. @param parent
 * - the folder for the folder of the server.
 */
export async function ownServer(
  service: Service,
  test: { skip(): void },
  given?: number,
  more: readonly string[] = [],
  parent?: string,
): Promise<StartedService> {
  if (serviceUrl(service) === undefined) test.skip()
  return start(service, serviceUrl('postgres'), given, more, parent)
}

/**
 * @param postgres - the address of the PostgreSQL that a PgBouncer connects to.
 */
async function start(
  service: Service,
  postgres: string | undefined,
  given?: number,
  more: readonly string[] = [],
  parent = tmpdir(),
): Promise<StartedService> {
  const recipe = RECIPES[service]
  const executable = program(recipe.program)
  const as = identity(recipe.users)
  const folder = mkdtempSync(join(parent, `ashlar-${service}-`))
  chmodSync(folder, 0o755)
  mkdirSync(join(folder, 'data'), { mode: 0o700 })
  if (as.uid !== undefined)
    for (const path of [folder, join(folder, 'data')]) chownSync(path, as.uid, as.gid ?? as.uid)
  try {
    const port = given ?? (await freePort())
    recipe.prepare?.(folder, { as, port, postgres })
    const log = openSync(join(folder, 'log'), 'w')
    const begin = () =>
      spawn(executable, [...recipe.arguments(folder, port), ...more], {
        ...as,
        cwd: folder,
        stdio: ['ignore', log, log],
      })
    const started = new Started(service, recipe, port, folder, begin)
    await started.ready()
    return started
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

class Started implements StartedService {
  readonly url: string
  readonly #goodbye: NodeJS.Signals
  #child: ChildProcess

  constructor(
    private readonly service: Service,
    { url, goodbye = 'SIGTERM' }: Recipe,
    port: number,
    private readonly folder: string,
    private readonly begin: () => ChildProcess,
  ) {
    this.url = url(port)
    this.#goodbye = goodbye
    this.#child = begin()
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8')
  }

  /** Waits until the server responds. */
  async ready(): Promise<void> {
    for (const end = Date.now() + 30_000; Date.now() < end;) {
      if (this.hasEnded) throw new TypeError(`${this.service} ended: ${this.log()}`)
      if (await answers(this.service, this.url)) return
      await pause(100)
    }
    this.#child.kill('SIGKILL')
    throw new TypeError(`${this.service} did not respond within 30 s`)
  }

  kill(): Promise<void> {
    return this.#end('SIGKILL')
  }

  freeze(): void {
    this.#signal('SIGSTOP')
  }

  thaw(): void {
    this.#signal('SIGCONT')
  }

  /** Sends a signal to all processes. PostgreSQL has one process for each connection. */
  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child
    if (pid === undefined) return
    process.kill(pid, signal)
    const children = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' }).stdout
    for (const child of children.split('\n').filter((line) => line.trim() !== ''))
      process.kill(Number(child), signal)
  }

  async restart(): Promise<void> {
    await this.kill()
    for (let attempts = 20; ; attempts--) {
      this.#child = this.begin()
      try {
        return await this.ready()
      } catch (error) {
        // The processes of a killed PostgreSQL take a moment to exit, and a new server cannot start until
        // then.
        if (attempts === 0 || !this.hasEnded) throw error
        await pause(250)
      }
    }
  }

  async stop(): Promise<void> {
    await this.#end(this.#goodbye)
    rmSync(this.folder, { recursive: true, force: true })
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.hasEnded) return
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill(signal)
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 10_000)
    await ended
    clearTimeout(late)
  }
}

interface Identity {
  readonly uid?: number
  readonly gid?: number
}

/**
 * Returns the user to run servers as. They refuse to run as root, so root starts them as an unprivileged
 * user.
 */
function identity(users: readonly string[]): Identity {
  if (process.getuid?.() !== 0) return {}
  for (const user of users) {
    try {
      const [uid, gid] = ['-u', '-g'].map((flag) =>
        Number(execFileSync('id', [flag, user], quiet).toString()),
      )
      if (uid !== undefined && gid !== undefined) return { uid, gid }
    } catch {
      continue
    }
  }
  throw new TypeError(`none of the users ${users.join(', ')} exists, and root does not start servers`)
}

/** Finds a program on the PATH, in the system folders, or in the folder of PostgreSQL on Debian. */
function program(name: string): string {
  const postgres = '/usr/lib/postgresql'
  const versions = (() => {
    try {
      return readdirSync(postgres).sort((a, b) => Number(b) - Number(a))
    } catch {
      return []
    }
  })()
  const folders = [
    ...versions.map((version) => join(postgres, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
    ...['/usr/sbin', '/usr/local/sbin', '/sbin', '/usr/bin', '/usr/local/bin'],
  ]
  for (const folder of folders) {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return join(folder, name)
    } catch {
      continue
    }
  }
  throw new TypeError(`${name} is not installed`)
}

/**
 * Returns whether a server responds to a client of this kind. The client logs in if the protocol has a login.
 */
async function answers(service: Service, url: string): Promise<boolean> {
  try {
    if (service === 'postgres' || service === 'pgbouncer') {
      const client = new Client({ connectionString: url, connectionTimeoutMillis: 2000 })
      client.on('error', () => {})
      try {
        await client.connect()
        const may = await client.query<{ may: boolean }>(
          'SELECT rolsuper OR rolcreatedb AS may FROM pg_roles WHERE rolname = current_user',
        )
        return may.rows[0]?.may === true
      } finally {
        await client.end()
      }
    }
    if (service === 'mysql') {
      const connection = await createConnection({ uri: url.replace(/\/[^/]*$/, '/'), connectTimeout: 2000 })
      await connection.query('CREATE DATABASE IF NOT EXISTS `test`')
      await connection.end()
      return true
    }
    const greeting = await firstBytes(new URL(url), service === 'redis' ? 'PING\r\n' : '')
    return service === 'redis' ? greeting.startsWith('+PONG') : greeting.startsWith('INFO')
  } catch {
    return false
  }
}

const firstBytes = (url: URL, say: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: url.hostname, port: Number(url.port) })
    socket.setTimeout(2000, () => socket.destroy(new TypeError('no response')))
    socket.once('connect', () => socket.write(say))
    socket.once('data', (bytes) => {
      resolve(bytes.toString('latin1'))
      socket.destroy()
    })
    socket.once('error', reject)
  })
