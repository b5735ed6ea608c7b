import { expect } from 'chai'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { DataSource, type DataSourceOptions } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { AshlarError, Aborted, Cancelled, DeadlineExceeded, Unavailable } from '../../../lib/errors.js'
import type { Database } from '../../../lib/persistence/engines/executor/executor.js'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import { current, transaction } from '../../../lib/persistence/sql/transaction.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { run } from '../../support/databases/statement.js'
import { until } from '../../support/until.js'

const PORTS: Readonly<Record<string, number>> = { 'postgres:': 5432, 'mysql:': 3306 }

/** Stands between a pool and its server, and can swallow everything from one moment on. */
class Network {
  isSilent = false
  /** How much clients have sent that nobody got. */
  swallowed = 0
  readonly #sockets = new Set<Socket>()
  readonly #server: Server

  constructor(to: URL) {
    this.#server = createServer((client) => {
      const upstream = connect(Number(to.port || PORTS[to.protocol]), to.hostname)
      for (const [socket, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        this.#sockets.add(socket)
        socket.on('error', () => {})
        socket.on('data', (bytes) => {
          if (!this.isSilent) other.write(bytes)
          else if (socket === client) this.swallowed += bytes.length
        })
        socket.on('close', () => other.destroy())
      }
    })
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return (this.#server.address() as AddressInfo).port
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }
}

describeOn(
  'a network that swallows everything',
  databases.filter(({ name }) => name === 'postgres' || name === 'mariadb'),
  (backend) => {
    let opened: OpenBackend
    let network: Network
    let dataSource: DataSource
    let database: Database

    before(async () => {
      opened = await backend.open([])
      const options = opened.dataSource!.options as DataSourceOptions & { readonly url: string }
      const url = new URL(options.url)
      network = new Network(url)
      const through = Object.assign(new URL(url), { hostname: '127.0.0.1', port: await network.listen() })
      const own = { ...options, url: through.href, poolSize: 1 } as DataSourceOptions
      dataSource = await new DataSource(own).initialize()
      database = executorOf(dataSource)
    })
    after(async () => {
      network.close()
      await dataSource.destroy().catch(() => {})
      await opened.close()
    })

    for (const moment of ['BEGIN', 'COMMIT'] as const)
      it(`keeps nobody whose deadline is over waiting for ${moment}, and the pool goes on`, async () => {
        network.isSilent = false
        await run(database, 'SELECT 1')
        network.isSilent = moment === 'BEGIN'
        network.swallowed = 0
        const late = new AbortController()
        const context = RequestContext.current().with({ signal: late.signal })
        const failing = transaction(
          database,
          async (inside) => {
            await run(current(database), 'SELECT 1', [], { signal: inside.signal! })
            network.isSilent = true
          },
          { context },
        ).catch((reason: unknown) => reason)
        await until(() => network.swallowed > 0)
        late.abort(new DeadlineExceeded())
        const error: unknown = await failing
        expect(error).to.be.instanceOf(AshlarError)
        const kinds = [Unavailable, DeadlineExceeded, Cancelled, Aborted]
        expect(
          kinds.some((kind) => error instanceof kind),
          String(error),
        ).to.equal(true)
        if (moment === 'COMMIT') expect((error as Error).message).to.include('unknown whether')

        network.isSilent = false
        expect((await run(database, 'SELECT 1')).rows).to.have.length(1)
      })
  },
)
