import { expect } from 'chai'
import { FILE_PROBLEMS } from '../../../lib/migrations/messages/file-problems.js'
import type { ChildProcess } from 'node:child_process'
import { consumer } from '../../../lib/events/consumer/consumer.js'
import type { LoggedEvent } from '../../../lib/events/log/event-log.js'
import { Outbox } from '../../../lib/events/following/outbox.js'
import { DeadLetters } from '../../../lib/events/store/sql-dead-letters.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { needsNats, type TestStream, testStream } from '../../support/databases/on-nats.js'
import type { Row } from '../../../lib/migrations/index.js'
import { run } from '../../support/databases/statement.js'
import { limitedUser } from '../../migrations/limited-user.js'
import { type Ran, runCli, type RunOptions } from '../../support/run-cli.js'
import { runCommand } from '../../support/run-command.js'
import { openOutbox, type OutboxSubject } from '../../events/outbox-subject.js'
import { withoutPackages } from '../../support/projects/missing-packages.js'
import { until } from '../../support/until.js'

const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/
const servers = backends.filter(({ name }) => name === 'postgres' || name === 'mariadb')

describeOn('ashlar outbox', servers, (backend) => {
  let [subject, stream]: [OutboxSubject, TestStream] = [] as never
  before(function () {
    needsNats(`ashlar outbox on ${backend.name}`, this)
  })
  const hasSchemas = backend.name === 'postgres'
  beforeEach(async () => {
    ;[subject, stream] = [await openOutbox(backend), await testStream()]
  })
  const relays: ChildProcess[] = []
  afterEach(async () => {
    for (const child of relays.splice(0)) child.kill('SIGKILL')
    await subject?.close()
    await stream?.close()
  })

  const environment = () => {
    const { url = '' } = subject.dataSource.options as { readonly url?: string }
    return { ASHLAR_DATABASE_URL: url.replace('mariadb:', 'mysql:') }
  }
  const outbox = (args: readonly string[]): Promise<Ran> =>
    runCommand(['outbox', ...args], { env: environment() })
  /** In a process of its own. */
  const relay = (options: RunOptions): Promise<Ran> =>
    runCli('ashlar', ['outbox', ...relayFlags()], {
      ...options,
      env: { ...options.env, ...environment() },
      started: (child) => {
        relays.push(child)
        options.started?.(child)
      },
    })
  const relayFlags = () => {
    const { servers: nats, stream: name, prefix } = stream.options
    return [
      'relay',
      '--nats',
      String(nats),
      '--stream',
      name,
      '--prefix',
      prefix,
      '--lease',
      '2000',
      '--max-attempts',
      '1',
    ]
  }
  const count = async () =>
    (await stream.manager.streams.info(stream.options.stream).catch(() => undefined))?.state.messages

  it('relays until it is stopped, and says how far it is', async () => {
    let child: ChildProcess | undefined
    const relaying = relay({ started: (one) => (child = one) })
    for (let at = 0; at < 5; at++) await subject.tell(`k${at}`)
    await until(async () => (await count()) === 5)
    child?.kill('SIGTERM')
    const { exit, stdout, stderr } = await relaying
    expect([exit, stdout]).to.deep.equal([0, ''])
    expect(stderr).to.match(
      /^Database \S+ on \S+\nrelaying until SIGINT or SIGTERM; connects to NATS when the first event is due\nSIGTERM: finishing the current batch; a second signal exits at once\n$/,
    )

    const status = await outbox(['status', '--max-lag', '0'])
    expect([status.exit, status.stdout.replace(TIME, 'T')]).to.deep.equal([
      0,
      '5 events so far\nrelay:nats: at position 5, 0 events to process, not running, last seen T\n',
    ])
    await subject.tell('more')
    const reason = 'relay:nats has 1 event to process: more than --max-lag 0'
    const late = await outbox(['status', '--max-lag', '0'])
    expect([late.exit, late.stdout.replace(TIME, 'T')]).to.deep.equal([
      1,
      `6 events so far, 1 not sequenced yet\nrelay:nats: at position 5, 1 event to process, not running, last seen T\nExit status 1: ${reason}\n`,
    ])
    const behind = await outbox(['status', '--max-lag', '0', '--json'])
    expect(behind.exit).to.equal(1)
    const { kept, ...reported } = JSON.parse(behind.stdout.replace(TIME, 'T')) as { kept: number }
    // Events that everybody has done are removed a little later.
    expect(kept).to.be.within(1, 6)
    expect(reported).to.deep.equal({
      unsequenced: 1,
      last: 5,
      cursors: [{ name: 'relay:nats', position: 5, lag: 1, deadLetters: 0, isRunning: false, lastSeen: 'T' }],
      reasons: [reason],
    })
    expect((await outbox(['status', '--max-lag', '1'])).exit).to.equal(0)

    const asked = await outbox(['forget', '--cursor', 'relay:nats'])
    expect([asked.exit, asked.stdout]).to.deep.equal([2, ''])
    const begins =
      /If it is started again, it begins with the (oldest of the [2-6] events|one event) in the outbox, and processes what it already processed again\.$/m
    expect(asked.stderr)
      .to.include('--yes')
      .and.include(`relay:nats is not running and has 1 event to process`)
    expect(asked.stderr).to.match(begins)
    const forgotten = await outbox(['forget', '--cursor', 'relay:nats', '--yes'])
    expect([forgotten.exit, forgotten.stdout.replace(begins, 'BEGINS')]).to.deep.equal([
      0,
      'relay:nats is forgotten. BEGINS\n',
    ])
    const unknown = await outbox(['forget', '--cursor', 'relay:nats', '--yes'])
    expect([unknown.exit, unknown.stderr]).to.satisfy(
      ([exit, text]: [number, string]) =>
        exit === 2 && text.endsWith('there is no relay or consumer named relay:nats here: none exists\n'),
    )

    const unfollowed = await outbox(['status', '--max-lag', '0'])
    expect(unfollowed.exit).to.equal(1)
    expect(unfollowed.stdout).to.match(
      /^6 events so far, ([1-6]) in the outbox; no relay or consumer follows it, so (it waits|they wait) until one is started\nExit status 1: \1 events? to process and no relay or consumer: more than --max-lag 0; start one\n$/,
    )
  })

  it('says of a consumer of a stream that its backlog is elsewhere', async () => {
    const { dataSource } = subject
    const worker = consumer({ name: 'notices', dataSource, nats: stream.options }, () => Promise.resolve())
    worker.start()
    const found = async () => (await new Outbox(dataSource).status()).cursors.length
    await until(async () => (await found()) === 1)
    const line =
      /^stream:notices: at position 0, its lag is in a NATS stream, not in this database, running$/m
    const running = await outbox(['status'])
    expect([running.exit, running.stdout]).to.satisfy(
      ([exit, text]: [number, string]) => exit === 0 && line.test(text),
    )
    const refused = await outbox(['forget', '--cursor', 'stream:notices', '--yes'])
    expect([refused.exit, refused.stdout]).to.deep.equal([2, ''])
    expect(refused.stderr).to.include('stream:notices is running, so nothing is forgotten')
    await worker.drain()
    expect((await outbox(['status', '--max-lag', '0'])).exit).to.equal(0)
    // What its outbox has is nothing that it has to do, nor does anybody else do it.
    await subject.tell('more')
    const unfollowed = await outbox(['status', '--max-lag', '0'])
    expect([unfollowed.exit, unfollowed.stdout.match(/^Exit .*$/gm)]).to.deep.equal([
      1,
      ['Exit status 1: 1 event to process and no relay or consumer: more than --max-lag 0; start one'],
    ])
    const { stderr } = await outbox(['forget', '--cursor', 'stream:notices'])
    expect(stderr).to.include('stream:notices is not running and follows a NATS stream. ')
    expect(stderr).to.include('it begins with the oldest event of its stream')
  })

  it('lists dead letters, and has them tried again', async () => {
    const { stream: name, prefix } = stream.options
    await stream.manager.streams.add({ name, subjects: [`${prefix}.>`], max_msg_size: 1000 })
    let child: ChildProcess | undefined
    const relaying = relay({ started: (one) => (child = one) })
    await subject.tell('large', { data: { text: 'x'.repeat(2000) } })
    const letters = new DeadLetters(subject.database)
    await until(async () => (await letters.list(1)).length === 1)
    const listed = await outbox(['dead-letters', '--cursor', 'relay:nats'])
    expect(listed.exit).to.equal(0)
    expect(listed.stderr).to.match(/^Database \S+ on \S+\n$/)
    expect(listed.stdout).to.match(
      /^\d+ relay:nats thing\.told [0-9a-f-]{36}, became a dead letter at \d{4}-[-\dT:.]+Z: .*exceeds maximum/,
    )
    expect(listed.stdout).to.match(/\nNext: ashlar outbox replay --cursor relay:nats\n$/)
    const [letter] = await letters.list(1)
    expect(letter?.givenUpAt.getTime()).to.be.closeTo(Date.now(), 60_000)

    await stream.manager.streams.update(name, { max_msg_size: -1 })
    // The relay moves on after it has given the event up.
    await until(async () =>
      (await outbox(['status'])).stdout.includes(', 0 events to process, 1 dead letter, running'),
    )
    const status = await outbox(['status', '--max-lag', '0'])
    expect([status.exit, status.stdout.split('\n').slice(-3)]).to.deep.equal([
      1,
      [
        'Next: ashlar outbox dead-letters',
        'Exit status 1: relay:nats has 1 dead letter: --max-lag allows none',
        '',
      ],
    ])
    for (const command of ['replay', 'dead-letters']) {
      const unknown = await outbox([command, '--cursor', 'relay:natz'])
      expect([unknown.exit, unknown.stdout]).to.deep.equal([2, ''])
      expect(unknown.stderr).to.include(
        'there is no relay or consumer named relay:natz here: --cursor takes relay:nats',
      )
    }
    const missing = await outbox(['replay', '--cursor', 'relay:nats', '--id', '999'])
    expect([missing.exit, missing.stdout]).to.deep.equal([2, ''])
    const replayed = await outbox(['replay', '--cursor', 'relay:nats'])
    expect([replayed.exit, replayed.stdout]).to.deep.equal([
      0,
      'relay:nats retries 1 dead letter once, within seconds. An event that fails again stays a dead letter.\nNext: ashlar outbox dead-letters --cursor relay:nats\n',
    ])
    await until(async () => (await count()) === 1)
    await until(async () => (await letters.list(1)).length === 0)
    child?.kill('SIGINT')
    expect((await relaying).exit).to.equal(0)
    expect((await outbox(['dead-letters'])).stdout).to.equal('no dead letters\n')

    const event = { id: 'e', resource: 'thing', verb: 'told', payload: Buffer.from('{}') } as LoggedEvent
    await letters.record('relay:nats', event, new TypeError('no'))
    expect((await outbox(['replay', '--cursor', 'relay:nats'])).stdout).to.include(
      'relay:nats retries 1 dead letter once, when relay:nats is started: it is not running now. ',
    )
    expect((await outbox(['dead-letters'])).stdout).to.match(
      /^\d+ relay:nats thing\.told e, became a dead letter at \S+Z, is retried when relay:nats runs: TypeError: no\n$/,
    )
  })

  it('says that NATS is not reached, without its password, and ends when it is told to', async () => {
    const unreached = 'NATS at 127.0.0.1:1 is not reachable yet: events wait until it is\n'
    let child: ChildProcess | undefined
    let printed = ''
    const relaying = runCli('ashlar', ['outbox', 'relay', '--nats', 'nats://u:secret@127.0.0.1:1'], {
      env: environment(),
      started: (one) => {
        child = one
        one.stderr?.on('data', (chunk: Buffer) => (printed += chunk.toString()))
      },
    })
    await until(() => printed.includes(unreached))
    child?.kill('SIGTERM')
    const { exit, stderr } = await relaying
    expect(exit).to.equal(0)
    expect(stderr).to.not.contain('secret')
  })

  it('refuses to relay without the packages of NATS, and names them', async () => {
    const { exit, stderr } = await relay({
      env: { NODE_OPTIONS: withoutPackages('@nats-io/') },
    })
    expect(exit).to.equal(2)
    expect(stderr).to.include('npm install @nats-io/jetstream @nats-io/transport-node')
  })

  it('says what cannot be used, and shows no password', async () => {
    const wrong = await runCommand(['outbox', 'status', '--url', 'sqlite:some.db'])
    expect([wrong.exit, wrong.stdout]).to.deep.equal([2, ''])
    const unreadable = await runCommand(['outbox', 'status', '--url', 'u:secret@h/x'])
    expect(unreadable.exit).to.equal(2)
    expect(unreadable.stderr).to.include('postgres://').and.not.include('secret')
    const silent = await runCommand(['outbox', 'status', '--url', 'postgres://u:secret@127.0.0.1:1/x'])
    expect(silent.exit).to.equal(6)
    expect(silent.stderr).to.not.contain('secret')
    expect(silent.stderr).to.include(' 127.0.0.1:1, ')
    const named = await outbox(['relay', '--nats', 'nats://127.0.0.1:4222', '--stream', 'a.b'])
    expect([named.exit, named.stderr.includes('a.b')]).to.deep.equal([2, true])
    const nats = await outbox(['relay', '--nats', ':'])
    expect([nats.exit, nats.stderr.includes('ashlar: --nats: ')]).to.deep.equal([2, true])
  })

  it('says where there is no outbox, and what to do', async () => {
    const { database } = subject
    const elsewhere = await outbox(['status', '--schema', 'elsewhere'])
    expect([elsewhere.exit, elsewhere.stderr.trim().split('\n').at(-1)]).to.deep.equal(
      hasSchemas
        ? [
            6,
            'ashlar: there is no outbox in the schema elsewhere, but there is one in public: name it with --schema public',
          ]
        : [2, `ashlar: ${FILE_PROBLEMS.noSchemas()}`],
    )
    await run(database, 'ALTER TABLE outbox_dispatch_cursor DROP COLUMN log_position')
    const older = await outbox(['status'])
    expect([older.exit, older.stderr]).to.satisfy(
      ([exit, text]: [number, string]) =>
        exit === 6 &&
        text.endsWith(
          'the outbox was created by an older release than this command: ashlar migrate up upgrades its tables\n',
        ),
    )
    await run(database, 'DROP TABLE outbox_dispatch_cursor')
    const none = await outbox(['status'])
    expect([none.exit, none.stderr]).to.satisfy(
      ([exit, text]: [number, string]) =>
        exit === 6 &&
        /there is no outbox in the .*: ashlar migrate up creates its tables\n$/.test(text) &&
        !text.includes('outbox_dispatch_cursor'),
    )
  })

  it('tells a missing right from a missing outbox', async () => {
    const { ASHLAR_DATABASE_URL: url } = environment()
    const rows = (text: string): Promise<Row[]> => subject.dataSource.query(text)
    const dialect = hasSchemas ? 'postgres' : 'mysql'
    const user = await limitedUser({ url, dialect, rows }, ['GRANT SELECT ON outbox TO USER'])
    const { exit, stderr } = await runCommand(['outbox', 'status', '--url', user.url])
    await user.drop()
    expect(exit).to.equal(6)
    expect(stderr).to.match(
      /denied .*: connect as the user of the service, or grant this user SELECT on outbox,/,
    )
  })
})
