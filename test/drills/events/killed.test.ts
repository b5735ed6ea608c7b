import { expect } from 'chai'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { DataSource } from 'typeorm'
import { Outbox } from '../../../lib/events/following/outbox.js'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { Counter } from '../../events/outbox-subject.js'
import { until } from '../../events/until.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import {
  needsNats,
  type StreamMessage,
  type TestStream,
  testStream,
} from '../../support/databases/on-nats.js'
import { drill } from '../../support/drill.js'
import { root } from '../../support/root.js'
import { ownServer, type StartedService } from '../../support/running/start-services.js'
import { count, effectsOf, ledgerOf, LedgerWriter, tablesOf } from './ledger.js'

const KILLS = drill(6, 50)
const [NATS_RESTARTS, DATABASE_RESTARTS] = [drill(1, 5), drill(1, 2)]
const WRITERS = drill(4, 8)
const CHANGES = drill(1500, 200_000)

for (const service of ['postgres', 'mysql'] as const)
  describe(`events on ${service}, while relays and consumers are killed and servers restart`, function () {
    this.timeout(drill(180_000, 3_600_000))
    const servers: StartedService[] = []
    let dataSource: DataSource

    before(async function () {
      needsNats('events while relays are killed', this)
      for (const one of [service, 'nats'] as const) servers.push(await ownServer(one, this))
      const url = servers[0]?.url ?? ''
      dataSource = new DataSource({ type: service, url, entities: [Counter], ...POOLS[service] })
      await dataSource.initialize()
      await applyBaseline(dataSource)
      await createTables(dataSource, [Counter], executorOf(dataSource).dialect.name)
      for (const text of tablesOf(service)) await dataSource.query(text)
    })
    after(async () => {
      await dataSource?.destroy()
      for (const server of servers.reverse()) await server.stop()
    })

    it('delivers every committed change, none that was rolled back, in the order of each resource, and has effects once', async () => {
      const [database, nats] = servers as [StartedService, StartedService]
      const stream = await testStream(nats.url)
      const writers = Array.from({ length: WRITERS }, () => new LedgerWriter(dataSource))
      await writers[0]?.createAll()
      let isOver = false
      const written = () => writers.reduce((sum, one) => sum + one.written, 0)
      const writing = Promise.all(writers.map((one) => one.write(() => isOver)))
      const place = { engine: service, url: database.url, stream: stream.options }
      const processes = [relayProcess, relayProcess, consumerProcess, consumerProcess].map((run) =>
        run(place),
      )

      const restarts = [
        ...Array.from({ length: NATS_RESTARTS }, () => nats),
        ...Array.from({ length: DATABASE_RESTARTS }, () => database),
      ]
      for (let kill = 0; kill < KILLS; kill++) {
        const share = ((kill + 1) / (KILLS + 1)) * CHANGES
        await until(() => written() >= share, 600_000)
        processes[kill % 2 === 0 ? randomInt(2) : 2 + randomInt(2)]?.kill()
        if (kill % Math.ceil(KILLS / restarts.length) === 0) await restarts[kill % restarts.length]?.restart()
      }
      await until(() => written() >= CHANGES, 600_000)
      isOver = true
      await writing
      const outbox = new Outbox(dataSource)
      await until(async () => {
        const { unsequenced, cursors } = await outbox.status()
        return unsequenced === 0 && cursors.every(({ lag = 0 }) => lag === 0)
      }, 120_000)
      const changes = await count(dataSource, 'ledger')
      await until(async () => (await count(dataSource, 'effects')) >= changes, 120_000).catch(() => {})
      for (const one of processes) await one.end()

      const ledger = await ledgerOf(dataSource)
      const messages = await stream.messages()
      const delivered = numbersIn(messages)
      expect(Object.fromEntries(delivered)).to.deep.equal(Object.fromEntries(ledger))
      expect(Object.fromEntries(await effectsOf(dataSource))).to.deep.equal(Object.fromEntries(ledger))
      expect(await outbox.deadLetters()).to.deep.equal([])
      process.stdout.write(
        `      ${service}: ${changes} changes, ${messages.length} messages, ${KILLS} kills, ${NATS_RESTARTS} restarts of NATS, ${DATABASE_RESTARTS} of the database\n`,
      )
      await stream.connection.close()
    })
  })

const POOLS = { postgres: { poolSize: 20 }, mysql: { poolSize: 20 } } as const

/** The numbers of each counter, in the order of the stream; what comes again is left out. */
function numbersIn(messages: readonly StreamMessage[]): Map<string, number[]> {
  const seen = new Set<string>()
  const numbers = new Map<string, number[]>()
  for (const { id, event } of messages) {
    if (seen.has(id)) continue
    seen.add(id)
    const { resource } = event.data as {
      readonly resource: { readonly id: string; readonly number?: number }
    }
    numbers.set(resource.id, [...(numbers.get(resource.id) ?? []), resource.number ?? 0])
  }
  return numbers
}

interface Process {
  /** Kills it with -9; another one starts. */
  kill(): void
  end(): Promise<void>
}

/** A process that is started again whenever it ends. */
function restarted(start: () => ChildProcess): Process {
  let [child, isOver] = [undefined as ChildProcess | undefined, false]
  const running = (async () => {
    while (!isOver) {
      child = start()
      await once(child, 'exit')
      await pause(100)
    }
  })()
  return {
    kill: () => void child?.kill('SIGKILL'),
    end: () => {
      isOver = true
      child?.kill('SIGKILL')
      return running
    },
  }
}

interface Place {
  readonly engine: 'postgres' | 'mysql'
  readonly url: string
  readonly stream: TestStream['options']
}

const relayProcess = ({ url, stream: { servers, stream, prefix } }: Place): Process =>
  restarted(() => {
    const flags = ['--nats', String(servers), '--stream', stream, '--prefix', prefix, '--lease', '1000']
    return spawn(process.execPath, [join(root, 'bin', 'ashlar.js'), 'outbox', 'relay', ...flags], {
      env: { ...process.env, ASHLAR_DATABASE_URL: url },
      stdio: 'ignore',
    })
  })

const consumerProcess = ({ engine, url, stream: { servers, stream } }: Place): Process =>
  restarted(() => {
    const host = fileURLToPath(new URL('../hosts/event-consumer.js', import.meta.url))
    return spawn(process.execPath, [host, engine, url, String(servers), stream], { stdio: 'ignore' })
  })
