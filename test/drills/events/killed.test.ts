import { expect } from 'chai'
import { type ChildProcess, fork, spawn } from 'node:child_process'
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
import { until } from '../../support/until.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import {
  needsNats,
  type StreamMessage,
  type TestStream,
  testStream,
} from '../../support/databases/on-nats.js'
import { drill, drilling } from '../../support/drill.js'
import { root } from '../../support/root.js'
import { ownServer, type StartedService } from '../../support/running/start-services.js'
import {
  countCommitted,
  countEffects,
  effectsOf,
  gathered,
  ledgerOf,
  LedgerWriter,
  type Numbers,
  tablesOf,
} from './ledger.js'

const KILLS = drill(2, 50)
const [NATS_RESTARTS, DATABASE_RESTARTS] = [drill(1, 5), drill(1, 2)]
/** Each with two writers. */
const WRITING_PROCESSES = drill(1, 4)
const CHANGES = drill(400, 200_000)
/** A million rows are not counted a hundred times a second. */
const LOOK_EVERY_MS = drill(20, 1000)

/** The processes are the same on both, and dear to start. */
const ENGINES = drilling ? (['postgres', 'mysql'] as const) : (['postgres'] as const)

for (const service of ENGINES)
  describe(`events on ${service}, while relays and consumers are killed and servers restart`, () => {
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
      await new LedgerWriter(dataSource).createAll()
      const begun = performance.now()
      const seconds = () => Math.round((performance.now() - begun) / 1000)
      const place = { engine: service, url: database.url, stream: stream.options }
      const writers = Array.from({ length: WRITING_PROCESSES }, () => writingProcess(place))
      const written = () => writers.reduce((sum, one) => sum + one.written, 0)
      const processes = [relayProcess, relayProcess, consumerProcess, consumerProcess].map((run) =>
        run(place),
      )

      const restarts = [
        ...Array.from({ length: NATS_RESTARTS }, () => nats),
        ...Array.from({ length: DATABASE_RESTARTS }, () => database),
      ]
      for (let kill = 0; kill < KILLS; kill++) {
        const share = ((kill + 1) / (KILLS + 1)) * CHANGES
        await until(() => written() >= share, PATIENCE_MS)
        processes[randomInt(2)]?.kill()
        processes[2 + randomInt(2)]?.kill()
        if (kill % Math.ceil(KILLS / restarts.length) === 0) await restarts[kill % restarts.length]?.restart()
      }
      await until(() => written() >= CHANGES, PATIENCE_MS)
      for (const one of writers) await one.end()
      const writtenIn = seconds()
      const outbox = new Outbox(dataSource)
      const isDelivered = async () => {
        const { unsequenced, cursors } = await outbox.status()
        return unsequenced === 0 && cursors.every(({ lag = 0 }) => lag === 0)
      }
      await until(isDelivered, PATIENCE_MS, LOOK_EVERY_MS)
      const deliveredIn = seconds()
      const changes = await countCommitted(dataSource)
      const isDone = async () => (await countEffects(dataSource)) >= changes
      await until(isDone, PATIENCE_MS, LOOK_EVERY_MS).catch(() => {})
      const doneIn = seconds()
      for (const one of processes) await one.end()

      const ledger = await ledgerOf(dataSource)
      const messages = await stream.messages()
      const delivered = numbersIn(messages)
      const isInOrder = [...delivered.values()].every((numbers) => numbers.every((one, i) => one === i))
      expect(isInOrder, 'delivered in the order of the changes').to.equal(true)
      expectSame('delivered', delivered, ledger)
      expectSame('effects', await effectsOf(dataSource), ledger)
      expect(await outbox.deadLetters()).to.deep.equal([])
      process.stdout.write(
        `      ${service}: ${changes} changes of ${ledger.size} resources, ${messages.length} messages, ${KILLS} kills each of relays and consumers, ` +
          `${NATS_RESTARTS} restarts of NATS, ${DATABASE_RESTARTS} of the database; written within ${writtenIn} s, delivered within ${deliveredIn} s, done within ${doneIn} s\n`,
      )
      await stream.connection.close()
    })
  })

const PATIENCE_MS = drill(120_000, 1_800_000)

const POOLS = { postgres: { poolSize: 20 }, mysql: { poolSize: 20 } } as const

/** The numbers of each counter, in the order of the stream; what comes again is left out. */
function numbersIn(messages: readonly StreamMessage[]): Numbers {
  const once = new Map(messages.map((message) => [message.id, message]))
  return gathered(
    [...once.values()].map(({ event }) => {
      const { resource } = event.data as {
        readonly resource: { readonly id: string; readonly number?: number }
      }
      return [resource.id, resource.number ?? 0]
    }),
  )
}

/** Names what differs: the whole would be long. */
function expectSame(what: string, found: Numbers, committed: Numbers): void {
  const ids = new Set([...found.keys(), ...committed.keys()])
  const differing = [...ids].filter((id) => found.get(id)?.join() !== committed.get(id)?.join())
  const told = differing
    .slice(0, 5)
    .map((id) => `${id}: ${found.get(id)?.join()} and not ${committed.get(id)?.join()}`)
  expect(told, `${what}: ${differing.length} of ${ids.size} resources differ`).to.deep.equal([])
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

interface WritingProcess {
  /** Changes that were committed, as far as it was told. */
  readonly written: number
  end(): Promise<void>
}

function writingProcess({ engine, url }: Place): WritingProcess {
  const host = fileURLToPath(new URL('../hosts/event-writer.js', import.meta.url))
  const child = fork(host, [engine, url, '2'], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  let written = 0
  child.on('message', (sum: number) => void (written = sum))
  const ended = once(child, 'exit')
  return {
    get written() {
      return written
    },
    end: async () => {
      child.disconnect()
      expect(await ended).to.deep.equal([0, null])
    },
  }
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
    return spawn(process.execPath, [host, engine, url, String(servers), stream], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
  })
