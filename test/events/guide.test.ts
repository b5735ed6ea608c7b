import { expect } from 'chai'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DataSource } from 'typeorm'
import { onEachEngine } from '../migrations/each-engine.js'
import { needsNats } from '../support/databases/on-nats.js'
import { bundledPackage } from '../support/projects/bundled-package.js'
import { root } from '../support/root.js'
import { ownServer, type StartedService } from '../support/running/start-services.js'
import { blocksOf } from '../support/sources/documents.js'
import { javascriptOf } from '../support/sources/page-module.js'
import { until } from '../support/until.js'

const PAGES = ['events', 'delivering-events', 'consuming-events', 'operating-events'].map(
  (name) => `docs/guides/${name}.md`,
)
const NATS = 'nats://127.0.0.1:4222'
const PACKAGES = ['typeorm', 'reflect-metadata', 'pg', 'mysql2', '@nats-io', '@bufbuild']
/** Commands that run until they are told to end. */
const RUNNING = [`ashlar outbox relay --nats ${NATS}`, 'node dist/consume.js']

const files = PAGES.flatMap(blocksOf).filter(({ file }) => file !== undefined)
const commands = PAGES.flatMap(blocksOf)
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => text.split('\n'))

onEachEngine('the guide to events', (database, dialect) => {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-events-guide-'))
  let nats: StartedService
  let ashlar: string
  let dataSource: DataSource
  const running = new Map<string, ChildProcess>()

  before(async function () {
    needsNats(`the guide to events on ${dialect}`, this)
    nats = await ownServer('nats', this)
    for (const name of PACKAGES) link(name, join(root, 'node_modules', name))
    ashlar = await bundledPackage()
    link('ashlar', ashlar)
    mkdirSync(join(folder, 'dist'))
    mkdirSync(join(folder, 'migrations', dialect), { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    for (const { file = '', text } of files)
      writeFileSync(
        join(folder, 'dist', file.replace(/ts$/, 'js')),
        javascriptOf(text.replaceAll(NATS, nats.url)),
      )
  })
  after(async () => {
    for (const child of running.values()) child.kill('SIGKILL')
    await dataSource?.destroy()
    await nats?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const link = (name: string, target: string) => {
    const path = join(folder, 'node_modules', name)
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(target, path)
  }
  const started = (command: string): ChildProcess => {
    const { NODE_OPTIONS: _, ...env } = process.env
    const [program = '', ...given] = command.replaceAll(NATS, nats.url).split(' ')
    const path = program === 'ashlar' ? [join(ashlar, 'bin', 'ashlar.js')] : []
    return spawn(process.execPath, [...path, ...given], {
      cwd: folder,
      env: { ...env, ASHLAR_DATABASE_URL: database().url },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }
  const run = async (command: string): Promise<string> => {
    const child = started(command)
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (said += text))
    const [exit] = (await once(child, 'close')) as [number | null]
    expect(exit, `${command}: ${said}`).to.equal(0)
    return said
  }
  const texts = async () =>
    (await dataSource.query<{ text: string }[]>('SELECT text FROM mails')).map(({ text }) => text)
  /** What each command says. */
  const SAYS: Readonly<Record<string, RegExp>> = {
    'ashlar migrate diff parcels --entities dist/entities.js': /parcels/,
    'ashlar migrate up': /./,
    'node dist/ship.js': /^$/,
    'ashlar outbox status': /./,
    'ashlar outbox status --max-lag 1000': /^relay:nats: [^]*^stream:mails: /m,
    'ashlar outbox dead-letters': /./,
    'ashlar outbox replay --cursor stream:mails': /^stream:mails has no dead letters\n/m,
    'ashlar outbox forget --cursor relay:old --yes': /^relay:old /m,
    'node --test dist/mails.test.js': /pass 1\b/,
  }

  /** The stream of a test is gone after `remove`. */
  const removesStream = async () => {
    const text = `
      import { connect } from '@nats-io/transport-node'
      import { jetstreamManager } from '@nats-io/jetstream'
      import { testStream } from './test-stream.js'
      const { nats, remove } = testStream('${nats.url}')
      const connection = await connect({ servers: nats.servers })
      const { streams } = await jetstreamManager(connection)
      await streams.add({ name: nats.stream, subjects: [nats.prefix + '.>'] })
      const names = async () => (await streams.names().next()).filter((name) => name === nats.stream)
      console.log(await names())
      await remove()
      console.log(await names())
      await connection.close()
    `
    writeFileSync(join(folder, 'dist', 'remove.js'), text)
    expect(await run('node dist/remove.js')).to.match(/^\[ 'test-[\w-]+' \]\n\[\]\n$/)
  }

  it('does what the page says, one after another', async () => {
    expect(new Set(commands)).to.deep.equal(new Set([...Object.keys(SAYS), ...RUNNING]))
    dataSource = new DataSource({ type: dialect, url: database().url })
    await dataSource.initialize()
    const said: string[] = []
    for (const command of commands) {
      if (RUNNING.includes(command)) {
        running.set(command, started(command))
        continue
      }
      if (command.includes('--max-lag')) await until(async () => (await texts()).length === 1, 60_000)
      if (command.includes('--max-lag'))
        await until(async () => (await run(command)).includes('0 events to process'), 60_000)
      if (command.includes('forget'))
        await dataSource.query(
          "INSERT INTO outbox_dispatch_cursor (name, log_position) VALUES ('relay:old', 0)",
        )
      const text = await run(command)
      expect(text, command).to.match(SAYS[command] ?? /^$/)
      said.push(text)
    }
    expect(said[3]).to.match(/^1 .*\b1 in the outbox\b/m)
    await removesStream()
    expect(await texts()).to.deep.equal(['Your parcel goes to Main Street 1.'])
    for (const [command, child] of running) {
      child.kill('SIGTERM')
      const [exit] = (await once(child, 'exit')) as [number | null]
      expect(exit, command).to.equal(0)
    }
    running.clear()
  })
})
