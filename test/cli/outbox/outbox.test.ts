import { expect } from 'chai'
import type { ChildProcess } from 'node:child_process'
import { consumer } from '../../../lib/events/consumer/consumer.js'
import { Outbox } from '../../../lib/events/following/outbox.js'
import { DeadLetters } from '../../../lib/events/store/dead-letters.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { needsNats, type TestStream, testStream } from '../../support/databases/on-nats.js'
import { run } from '../../support/databases/statement.js'
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
  beforeEach(async () => {
    ;[subject, stream] = [await openOutbox(backend), await testStream()]
  })
  afterEach(async () => {
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
      '--tries',
      '1',
    ]
  }
  const count = async () =>
    (await stream.manager.streams.info(stream.options.stream).catch(() => undefined))?.state.messages

  it('relays until it is told to end, and says how far it is', async () => {
    let child: ChildProcess | undefined
    const relaying = relay({ started: (one) => (child = one) })
    for (let at = 0; at < 5; at++) await subject.tell(`k${at}`)
    await until(async () => (await count()) === 5)
    child?.kill('SIGTERM')
    const { exit, stdout, stderr } = await relaying
    expect([exit, stdout]).to.deep.equal([0, ''])
    expect(stderr).to.match(
      /^Database \S+ on \S+\nrelaying until SIGINT or SIGTERM; NATS is connected with the first event\nSIGTERM: finishing what it has begun; once more ends at once\n$/,
    )

    const status = await outbox(['status', '--most-lag', '0'])
    expect([status.exit, status.stdout.replace(TIME, 'T')]).to.deep.equal([
      0,
      '5 events so far, 0 not sequenced yet\nrelay:nats: at 5, all done, last seen T\n',
    ])
    await subject.tell('more')
    const behind = await outbox(['status', '--most-lag', '0', '--json'])
    expect(behind.exit).to.equal(1)
    expect(JSON.parse(behind.stdout.replace(TIME, 'T'))).to.deep.equal({
      unsequenced: 1,
      last: 5,
      cursors: [{ name: 'relay:nats', position: 5, lag: 0, deadLetters: 0, isRunning: false, lastSeen: 'T' }],
    })

    const asked = await outbox(['forget', '--cursor', 'relay:nats'])
    expect([asked.exit, asked.stdout]).to.deep.equal([2, ''])
    expect(asked.stderr).to.include('relay:nats has 0 events to do and 0 dead letters').and.include('--yes')
    const forgotten = await outbox(['forget', '--cursor', 'relay:nats', '--yes'])
    expect([forgotten.exit, forgotten.stdout]).to.deep.equal([0, 'relay:nats is forgotten\n'])
    const unknown = await outbox(['forget', '--cursor', 'relay:nats', '--yes'])
    expect([unknown.exit, unknown.stderr.includes('relay:nats has no cursor')]).to.deep.equal([2, true])
  })

  it('says of a consumer of a stream that its backlog is elsewhere', async () => {
    const { dataSource } = subject
    const worker = consumer({ name: 'notices', dataSource, nats: stream.options }, () => Promise.resolve())
    worker.start()
    const found = async () => (await new Outbox(dataSource).status()).cursors.length
    await until(async () => (await found()) === 1)
    const line = /^stream:notices: at 0, follows a stream of NATS, whose backlog is not in this database, /m
    const running = await outbox(['status'])
    expect([running.exit, running.stdout]).to.satisfy(
      ([exit, text]: [number, string]) => exit === 0 && line.test(text),
    )
    await worker.drain()
    // What its outbox has not sequenced is nothing that it has to do.
    await subject.tell('more')
    expect((await outbox(['status', '--most-lag', '0'])).exit).to.equal(0)
    const { stderr } = await outbox(['forget', '--cursor', 'stream:notices'])
    expect(stderr).to.include('stream:notices follows a stream of NATS, and has 0 dead letters')
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
    expect(listed.stdout).to.match(/^\d+ relay:nats thing\.told [0-9a-f-]{36}: .*exceeds maximum/)

    await stream.manager.streams.update(name, { max_msg_size: -1 })
    expect((await outbox(['status'])).stdout).to.include(', 1 dead letter, running')
    for (const command of ['replay', 'dead-letters']) {
      const unknown = await outbox([command, '--cursor', 'relay:natz'])
      expect([unknown.exit, unknown.stdout]).to.deep.equal([2, ''])
      expect(unknown.stderr).to.include('relay:natz has no cursor: there are relay:nats')
    }
    const missing = await outbox(['replay', '--cursor', 'relay:nats', '--id', '999'])
    expect([missing.exit, missing.stdout]).to.deep.equal([2, ''])
    const replayed = await outbox(['replay', '--cursor', 'relay:nats'])
    expect([replayed.exit, replayed.stdout]).to.deep.equal([0, '1 dead letter is tried again\n'])
    await until(async () => (await count()) === 1)
    await until(async () => (await letters.list(1)).length === 0)
    child?.kill('SIGINT')
    expect((await relaying).exit).to.equal(0)
    expect((await outbox(['dead-letters'])).stdout).to.equal('no dead letters\n')
  })

  it('says that NATS is not reached, without its password, and ends when it is told to', async () => {
    const unreached = 'NATS at 127.0.0.1:1 is not reached yet: events wait until it is\n'
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
    const silent = await runCommand(['outbox', 'status', '--url', 'postgres://u:secret@127.0.0.1:1/x'])
    expect(silent.exit).to.equal(6)
    expect(silent.stderr).to.not.contain('secret')
    const name = await outbox(['relay', '--nats', 'nats://127.0.0.1:4222', '--stream', 'a.b'])
    expect([name.exit, name.stderr.includes('no name of a stream')]).to.deep.equal([2, true])
    await run(subject.database, 'DROP TABLE outbox_dispatch_cursor')
    const dropped = await outbox(['status'])
    expect([dropped.exit, dropped.stderr.includes('run ashlar migrate up')]).to.deep.equal([6, true])
  })
})
