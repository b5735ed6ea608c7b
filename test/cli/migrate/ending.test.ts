import { expect } from 'chai'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TYPE_YES } from '../../../cli/output/confirmed.js'
import { migrate } from '../../../lib/migrations/index.js'
import { withLock } from '../../../lib/migrations/session/lock.js'
import { type Session, withSession } from '../../../lib/migrations/session/session.js'
import { resolveOptions } from '../../../lib/migrations/resolve-options.js'
import { file, onEachEngine, saidOf, tables } from '../../migrations/each-engine.js'
import { hold, killSessions, untilRow, waitingForLock } from '../../migrations/fresh-database.js'
import { limitedUser } from '../../migrations/limited-user.js'
import { type Ran, type RunOptions, runCli } from '../../support/run-cli.js'
import { AT_A_TERMINAL } from '../../support/running/at-a-terminal.js'
import { versionState } from '../../support/projects/version-state.js'
import { jsonOf, runCommand } from '../../support/run-command.js'

/** What a command that fails prints with `--json`. */
interface Failed {
  readonly error: {
    readonly problems?: readonly Readonly<Record<string, unknown>>[]
    readonly hasChanged?: boolean
    readonly dirty?: readonly string[]
  }
}

const problemOf = (ran: Ran) => jsonOf<Failed>(ran).error.problems?.[0]

onEachEngine('ashlar migrate, when it does not come to its end,', (database, dialect) => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-migrate-'))
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
  })

  /** In a process of its own where a signal is sent to it, or a terminal given. */
  const run = (args: readonly string[], { env = {}, ...inProcess }: RunOptions = {}) => {
    const command = ['migrate', ...args, '--files', folder]
    const environment = { ASHLAR_DATABASE_URL: database().url, ...env }
    return Object.keys(inProcess).length === 0
      ? runCommand(command, { env: environment })
      : runCli('ashlar', command, { env: environment, ...inProcess })
  }
  const ship = (files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  }

  it('exits with 6 and says which right is lacking', async () => {
    ship(tables(2))
    const user = await limitedUser(
      database(),
      dialect === 'postgres' ? [] : ['GRANT CREATE TEMPORARY TABLES ON * TO USER'],
    )
    try {
      for (const args of [['up'], ['down', '--to', '0', '--yes'], ['status'], ['verify']]) {
        const ran = await run([...args, '--json'], { env: { ASHLAR_DATABASE_URL: user.url } })
        expect(ran.exit, args.join(' ')).to.equal(6)
        expect(problemOf(ran)).to.have.nested.property('advice.kind', 'lacksRight')
        expect(ran.stdout + ran.stderr).to.not.include('hush')
      }
    } finally {
      await user.drop()
    }
  })

  if (dialect === 'mysql')
    it('says which right does not belong to a database', async () => {
      ship(tables(2))
      const user = await limitedUser(database(), ['GRANT SELECT ON * TO USER'])
      try {
        const ran = await run(['up', '--json'], { env: { ASHLAR_DATABASE_URL: user.url } })
        expect(ran.exit).to.equal(6)
        expect(problemOf(ran)?.['advice']).to.deep.include({
          kind: 'lacksRight',
          server: 'MySQL',
          purpose: 'change',
        })
      } finally {
        await user.drop()
      }
    })

  if (dialect === 'postgres')
    it('exits with 6 and says that the database takes no writes', async () => {
      ship(tables(2))
      await database().rows(`ALTER DATABASE ${database().name} SET default_transaction_read_only = on`)
      const ran = await run(['up', '--json'])
      expect(ran.exit).to.equal(6)
      expect(problemOf(ran)?.['advice']).to.deep.equal({ kind: 'readOnly', server: 'PostgreSQL' })
    })

  it('exits with 6 and says that the connection is lost while it waits', async () => {
    ship(tables(2))
    const other = resolveOptions({ url: database().url, files: {}, module: 'the_other' })
    const ran = await withSession(other, 'change', (session) =>
      withLock(session, other, async () => {
        const except = await numberOf(session)
        return run(['up', '--json'], {
          started: once('stderr', holderOf(except), () => killSessions(database(), { except })),
        })
      }),
    )
    expect(ran.exit).to.equal(6)
    expect(problemOf(ran)?.['advice']).to.deep.equal({ kind: 'connectionLost' })
  })

  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    it(`cancels the statement that runs on ${signal}, says so, and exits with ${status}`, async () => {
      const wider = file(
        '0003_wider',
        'ALTER TABLE t2 ADD COLUMN name varchar(9)',
        'ALTER TABLE t2 DROP COLUMN name',
      )
      ship({ ...tables(2), ...wider })
      await migrate({ url: database().url, files: tables(2) }).up()
      await hold(database(), 't2')
      const waiting = waitingForLock(database(), 'ALTER TABLE t2')
      const ran = await run(['up', '--lock-timeout', '3600000', '--json'], {
        started: (child) => void untilRow(database(), waiting).then(() => child.kill(signal)),
      })
      expect(ran.exit).to.equal(status)
      expect(ran.stderr).to.match(new RegExp(`^${signal}: `, 'm'))
      expect(problemOf(ran)).to.deep.include({
        ...{ kind: 'statementFailed', file: '0003_wider.up.sql', place: { statement: 1, of: 1, line: 1 } },
        ...{ advice: { kind: 'cancelled' }, remains: { kind: 'nothing' }, mend: 'nothing' },
      })
      expect(await database().rows(waiting)).to.deep.equal([])
      await database().rows('ROLLBACK')
      expect(jsonOf(await run(['up', '--json']))).to.deep.include({ applied: ['0003_wider'] })
    })

  it('ends the line that a terminal begins with ^C', async () => {
    ship({ ...tables(2), ...file('0003_wider', 'ALTER TABLE t2 ADD COLUMN name varchar(9)', '-- it stays') })
    await migrate({ url: database().url, files: tables(2) }).up()
    await hold(database(), 't2')
    const { exit, stdout } = await run(['up', '--lock-timeout', '3600000'], {
      under: AT_A_TERMINAL,
      input: { text: '\x03', after: '1/1 ALTER TABLE' },
    })
    await database().rows('ROLLBACK')
    expect(exit).to.equal(130)
    expect(stdout).to.match(/\^C\r?\nSIGINT: /)
  })

  it('stops connecting on SIGINT', async () => {
    let child: ChildProcess | undefined
    const silent = createServer((socket) => {
      socket.on('error', () => undefined)
      child?.kill('SIGINT')
    })
    await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening))
    const { port } = silent.address() as AddressInfo
    const url = `${dialect}://nobody@127.0.0.1:${port}/nothing`
    const ran = await run(['up', '--json'], {
      env: { ASHLAR_DATABASE_URL: url },
      started: (process) => (child = process),
    })
    silent.close()
    expect(ran.exit).to.equal(130)
    expect(problemOf(ran)).to.deep.equal({ kind: 'cancelledConnecting' })
  })

  it('ends at once on a second signal, whatever the server does', async () => {
    ship(tables(2))
    await migrate({ url: database().url, files: {} }).up()
    let child: ChildProcess | undefined
    const server = await swallowing(database().url, 'CREATE TABLE t2', () => child?.kill('SIGINT'))
    const { exit, stderr } = await run(['up'], {
      env: { ASHLAR_DATABASE_URL: server.url },
      started: (started) => {
        child = started
        once('stderr', /SIGINT: /, () => started.kill('SIGTERM'))(started)
      },
    })
    server.close()
    expect([exit, child?.signalCode]).to.deep.equal([null, 'SIGTERM'])
    expect(stderr).to.match(/\nSIGINT: [^\n]*\n$/)
  })

  it('stops waiting for another host on SIGINT', async () => {
    ship(tables(2))
    const other = resolveOptions({ url: database().url, files: {}, module: 'the_other' })
    const ran = await withSession(other, 'change', (session) =>
      withLock(session, other, async () => {
        const holder = holderOf(await numberOf(session))
        return run(['up', '--json'], {
          started: (child) => once('stderr', holder, () => child.kill('SIGINT'))(child),
        })
      }),
    )
    expect(ran.exit).to.equal(130)
    expect(problemOf(ran)?.['kind']).to.equal('cancelledWaiting')
    expect(jsonOf<Failed>(ran).error.hasChanged).to.equal(false)
  })

  it('shows what the server says in notices', async () => {
    ship(
      file(
        '0002_a',
        dialect === 'postgres'
          ? "DO $$ BEGIN RAISE WARNING E'look\\nat \\x1b[31mt2'; END $$"
          : 'DROP TABLE IF EXISTS nowhere',
        '',
      ),
    )
    const { exit, stderr } = await run(['up'])
    expect(exit).to.equal(0)
    expect(stderr).to.match(
      dialect === 'postgres'
        ? /^ {2}WARNING: look at \uFFFD\[31mt2$/m
        : /^ {2}NOTE: Unknown table '.*nowhere'$/m,
    )
  })

  it('reports a dirty version whose file was removed as dirty', async () => {
    ship({ ...tables(2), ...file('0003_t3', 'nonsense', '') })
    await run(['up'])
    for (const way of ['up', 'down']) rmSync(join(folder, `0003_t3.${way}.sql`))
    const ran = await run(['up', '--json'])
    expect(ran.exit).to.equal(6)
    expect(jsonOf<Failed>(ran).error).to.deep.include({ applied: [], ahead: [], dirty: ['0003_t3'] })
    expect(ran.stderr).to.match(/\nashlar: 0003_t3 [^\n]* 0003_t3\.up\.sql, [^\n]*\n$/)
    expect((await run(['status', '--check'])).exit).to.equal(1)
  })

  it('says what to do about a version whose run ended without a report', async () => {
    ship(tables(2))
    await run(['up'])
    await database().rows(
      'UPDATE ashlar_migrations SET dirty = true, statements_done = 0, error = NULL WHERE version = 2',
    )
    const dirty = await versionState((...args) => run(args), '0002_t2')
    expect(dirty).to.include({ state: 'dirty' }).and.have.property('lastRunAt')
    expect(dirty).to.not.have.property('error')
    const verified = await run(['verify', '--json'])
    expect(verified.exit).to.equal(1)
    const [difference] = jsonOf<{ details: readonly object[] }>(verified).details
    expect(difference).to.include({ kind: 'dirty', version: '0002_t2' })
    expect(dirty?.unfinished).to.include({ isReported: false, direction: 'up' })
  })

  it('accepts what another tool applied, and names it', async () => {
    ship(tables(2))
    await migrate({ url: database().url, files: tables(2) }).up()
    await database().rows('UPDATE ashlar_migrations SET checksum = NULL')
    const ran = await run(['verify', '--json'])
    expect(ran.exit).to.equal(0)
    expect(jsonOf(ran)).to.deep.include({ details: [] })
    expect(ran.stderr).to.match(/\nnote: .*\b0001_framework_init, 0002_t2, 8001_outbox_log\b.*\n$/)
  })
})

onEachEngine(
  'ashlar migrate down --to 0',
  (database, dialect) => {
    beforeEach(() => migrate({ url: database().url, files: {} }).up())

    const LOST =
      /8001_outbox_log, 0001_framework_init .*\(outbox_leases, operations, tenant_event_policy, tenant_event_seq, tenant_fence, idempotency_keys, idempotency_markers, outbox_dead_letter, outbox_dispatch_cursor, outbox\)/
    const none = mkdtempSync(join(tmpdir(), 'ashlar-no-files-'))
    after(() => rmSync(none, { recursive: true, force: true }))
    const run = (args: readonly string[], options: RunOptions = {}) =>
      runCli('ashlar', ['migrate', 'down', '--to', ...args, '--files', none], {
        env: { ASHLAR_DATABASE_URL: database().url, NO_COLOR: '1', TERM: 'xterm' },
        ...options,
      })

    it('needs --yes where there is no terminal', async () => {
      const refused = await run(['0'], { input: { text: 'yes\n', after: '' } })
      expect(refused).to.deep.include({ exit: 2, stdout: '' })
      const [place, question] = refused.stderr.split('\n')
      expect(`${place}\n`).to.equal(saidOf(database()))
      expect(question).to.include(
        `ashlar: nothing is changed: this command asks for confirmation, which needs a terminal; --yes confirms it. ${place}: `,
      )
      expect(question).to.match(LOST)
      expect(await database().tables()).to.not.deep.equal([])
      const said = await run(['0', '--yes', '--json'])
      expect(said.exit).to.equal(0)
      expect(jsonOf(said)).to.deep.include({ rolledBack: ['8001_outbox_log', '0001_framework_init'] })
    })

    it('is not asked about where a version stays', async () => {
      const ran = await run(['1', '--json'])
      expect(ran.exit).to.equal(0)
      expect(jsonOf(ran)).to.deep.include({ rolledBack: [] })
    })

    // What is asked is the same for every engine.
    if (dialect === 'mysql') return

    for (const [answer, exit] of [
      ['no\n', 1],
      ['\n', 1],
      ['y\n', 1],
      ['\x04', 1],
      ['\x03', 130],
    ] as const)
      it(`asks at a terminal, and changes nothing when ${JSON.stringify(answer)} is typed`, async () => {
        const input = { text: answer, after: TYPE_YES }
        const asked = await run(['0'], { under: AT_A_TERMINAL, input })
        expect(asked.stdout)
          .to.match(LOST)
          .and.match(/\r\nashlar: /)
        if (answer === 'y\n') expect(asked.stdout).to.include('y counts as no: only yes, in full')
        expect(asked.exit).to.equal(exit)
        expect((await migrate({ url: database().url, files: {} }).status())[0]).to.include({
          state: 'applied',
        })
      })

    it('asks at a terminal, and does it when yes is typed', async () => {
      const asked = await run(['0'], { under: AT_A_TERMINAL, input: { text: 'yes\n', after: TYPE_YES } })
      expect(asked.exit).to.equal(0)
      expect(await database().tables()).to.deep.equal(['ashlar_migrations'])
    })
  },
  { empty: true },
)

/**
 * Passes everything on to a database until `until` is sent; from then on it swallows everything and answers
 * nothing.
 */
async function swallowing(url: string, until: string, swallowed: () => void) {
  let isSilent = false
  const upstreams = new Set<Socket>()
  const server = createServer((client) => {
    const { hostname, port } = new URL(url)
    const upstream = connect(Number(port), hostname)
    upstreams.add(upstream)
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
    upstream.on('data', (chunk) => isSilent || client.write(chunk))
    client.on('data', (chunk) => {
      if (isSilent) return
      if (!chunk.includes(until)) return void upstream.write(chunk)
      isSilent = true
      swallowed()
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const through = new URL(url)
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: through.href,
    close: () => {
      server.close()
      for (const upstream of upstreams) upstream.destroy()
    },
  }
}

/** The number of a session on its server, which whoever waits for it is told. */
async function numberOf(session: Session): Promise<number> {
  const [row] = await session.rows(
    session.dialect === 'postgres' ? 'SELECT pg_backend_pid() AS id' : 'SELECT CONNECTION_ID() AS id',
  )
  return Number(row?.id)
}

const holderOf = (session: number): RegExp => new RegExp(`\\b(process|connection) ${session}\\b`)

/** Does something the first time that the child prints what matches. */
const once =
  (stream: 'stdout' | 'stderr', expected: RegExp, act: () => unknown) =>
  (child: ChildProcess): void => {
    let printed = ''
    let isDone = false
    child[stream]?.on('data', (chunk: Buffer | string) => {
      printed += String(chunk)
      if (isDone || !expected.test(printed)) return
      isDone = true
      act()
    })
  }
