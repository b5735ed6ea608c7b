import { expect } from 'chai'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { DataSource } from 'typeorm'
import { Cancelled, Unavailable } from '../../../../lib/errors.js'
import type { Database } from '../../../../lib/persistence/engines/executor/executor.js'
import { executorOf } from '../../../../lib/persistence/engines/executor-of.js'
import { databases, describeOn, type OpenBackend } from '../../../support/databases/backends.js'
import { rejection } from '../../../support/rejection.js'
import { column, run } from '../../../support/databases/statement.js'
import { until } from '../../../support/until.js'

const CANCEL_REQUEST = 80877102

/** Stands before PostgreSQL, and deals with the sockets of cancel requests as a slow pooler does. */
class CancelGate {
  /** How long a request is kept before it is handed on; forever when infinite. */
  delayMs = 0
  /** It keeps what clients send until then. */
  passing: Promise<void> = Promise.resolve()
  /** How often clients have sent something. */
  sent = 0
  readonly requests: Socket[] = []
  /** Requests that the server has dealt with. */
  answered = 0
  /** Requesters that closed their socket, or one direction of it, before the server did. */
  early = 0
  readonly #sockets = new Set<Socket>()
  readonly #server: Server

  constructor(private readonly to: URL) {
    this.#server = createServer({ allowHalfOpen: true }, (client) => {
      this.#sockets.add(client.on('error', () => {}))
      client.once('data', (bytes) => {
        if (bytes.readInt32BE(4) === CANCEL_REQUEST) void this.#keep(client, bytes)
        else this.#connect(client, bytes)
      })
    })
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const { port } = this.#server.address() as AddressInfo
    return Object.assign(new URL(this.to), { hostname: '127.0.0.1', port }).href
  }

  /** Whoever is connected stays so. */
  stopListening(): void {
    this.#server.close()
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  #connect(client: Socket, first: Buffer): Socket {
    const server = connect(Number(this.to.port || 5432), this.to.hostname)
    this.#sockets.add(server.on('error', () => {}))
    server.write(first)
    client.on('data', (bytes) => {
      this.sent++
      void this.passing.then(() => server.write(bytes))
    })
    client.once('end', () => server.end())
    server.pipe(client)
    client.once('close', () => server.destroy())
    return server
  }

  async #keep(client: Socket, request: Buffer): Promise<void> {
    this.requests.push(client)
    const isEarly = () => this.early++
    client.once('end', isEarly).once('close', isEarly)
    if (!Number.isFinite(this.delayMs)) return
    await pause(this.delayMs)
    const server = connect(Number(this.to.port || 5432), this.to.hostname)
    server.write(request)
    await new Promise((resolve) => server.resume().once('close', resolve))
    this.answered++
    client.off('end', isEarly).off('close', isEarly).end()
  }
}

describeOn(
  'a cancel request',
  databases.filter(({ name }) => name === 'postgres'),
  (backend) => {
    let opened: OpenBackend
    let gate: CancelGate
    let dataSource: DataSource
    let database: Database
    let leaving: AbortController

    before(async () => {
      opened = await backend.open([])
      gate = new CancelGate(new URL((opened.dataSource!.options as { url: string }).url))
      dataSource = new DataSource({ type: 'postgres', url: await gate.listen(), poolSize: 1 })
      database = executorOf(await dataSource.initialize())
    })
    after(async () => {
      await dataSource.destroy()
      gate.close()
      await opened.close()
    })
    beforeEach(() => {
      gate.requests.length = 0
      gate.answered = 0
      gate.early = 0
      gate.delayMs = 0
      leaving = new AbortController()
    })

    /** What the pool of the tests does not wait for. */
    const others = () => opened.database!
    const untilActive = (text: string) =>
      until(async () => {
        const active = `SELECT count(*) FROM pg_stat_activity WHERE query = '${text}' AND state = 'active'`
        return (await column(others(), active))[0] === '1'
      })
    const session = async () => (await column(database, 'SELECT pg_backend_pid()'))[0]

    for (const delayMs of [0, 50])
      it(`leaves its socket to the server to close, ${delayMs} ms later, and the connection is used on`, async () => {
        gate.delayMs = delayMs
        const before = await session()
        const asleep = rejection(
          run(database, 'SELECT pg_sleep(60)', [], { signal: leaving.signal }),
          Cancelled,
        )
        await untilActive('SELECT pg_sleep(60)')
        leaving.abort()
        await asleep
        expect(gate.requests).to.have.length(1)
        expect(gate.early).to.equal(0)
        expect(await session()).to.equal(before)
      })

    it('that comes before the statement does is sent again', async () => {
      let pass = () => {}
      gate.passing = new Promise((resolve) => (pass = resolve))
      const before = gate.sent
      const asleep = rejection(
        run(database, 'SELECT pg_sleep(61)', [], { signal: leaving.signal }),
        Cancelled,
      )
      await until(() => gate.sent > before)
      leaving.abort()
      await until(() => gate.answered > 0)
      pass()
      await asleep
      expect(gate.requests.length).to.be.greaterThan(1)
      const asleepNow = `SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(61)' AND state = 'active'`
      expect(await column(database, asleepNow)).to.deep.equal(['0'])
    })

    it('that the server keeps for longer than anybody waits costs the connection, and is not taken back', async () => {
      gate.delayMs = Number.POSITIVE_INFINITY
      const before = await session()
      const lease = await database.lease()
      // It answers before the request has got anywhere: what runs next is not what was meant.
      const holder = await others().lease()
      await holder.control('BEGIN')
      await run(holder, 'SELECT pg_advisory_xact_lock(1)')
      const waiting = run(lease, 'SELECT pg_advisory_lock(1), 1', [], { signal: leaving.signal })
      await untilActive('SELECT pg_advisory_lock(1), 1')
      leaving.abort()
      await until(() => gate.requests.length > 0)
      await holder.control('ROLLBACK')
      holder.release()
      const short = await waiting
      expect(short.rows).to.deep.equal([['', '1']])
      await rejection(run(lease, 'SELECT 1'), Unavailable)
      lease.release()
      expect(await session()).to.not.equal(before)
      expect(gate.requests.map(({ readyState }) => readyState)).to.deep.equal(['open'])
      expect(gate.early).to.equal(0)
    })

    it('that cannot be sent leaves the statement its second, and then ends it with the connection', async () => {
      const direct = new URL((opened.dataSource!.options as { url: string }).url)
      const lost = new CancelGate(direct)
      const only = await new DataSource({
        type: 'postgres',
        url: await lost.listen(),
        poolSize: 1,
      }).initialize()
      const pool = executorOf(only)
      const lease = await pool.lease()
      lost.stopListening()
      const asleep = rejection(run(lease, 'SELECT pg_sleep(62)', [], { signal: leaving.signal }), Cancelled)
      await untilActive('SELECT pg_sleep(62)')
      leaving.abort()
      await asleep
      lease.release()
      lost.close()
      await only.destroy()
    })
  },
)
