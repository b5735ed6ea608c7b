import { expect } from 'chai'
import * as fc from 'fast-check'
import { Unavailable } from '../../../lib/errors.js'
import { HotPool } from '../../../lib/persistence/hot-reload/pool.js'
import type { Connection, ConnectionListener } from '../../../lib/persistence/hot-reload/reloaded-session.js'
import { drill } from '../../support/drill.js'
import { rejection } from '../../support/rejection.js'

/** A server within the process: it lets in, refuses, loses and closes when it is told to. */
class FakeServer {
  readonly sessions = new Set<Client>()
  readonly knocking: Client[] = []
  most = 0

  readonly connect = (dsn: string, listener: ConnectionListener): Connection<Client> => {
    const client = new Client(dsn, listener, this)
    this.sessions.add(client)
    this.knocking.push(client)
    this.most = Math.max(this.most, this.sessions.size)
    return client
  }

  letIn(): void {
    this.knocking.shift()?.decide(undefined)
  }

  refuse(reason: Error): void {
    this.knocking.shift()?.decide(reason)
  }

  /** The server hangs up on somebody. */
  hangUp(index: number): void {
    const all = [...this.sessions]
    all[index % (all.length || 1)]?.gone()
  }
}

class Client implements Connection<Client> {
  readonly client = this
  readonly opened: Promise<void>
  decide!: (reason: Error | undefined) => void

  constructor(
    readonly dsn: string,
    readonly listener: ConnectionListener,
    private readonly server: FakeServer,
  ) {
    this.opened = new Promise((resolve, reject) => {
      this.decide = (reason) => (reason === undefined ? resolve() : reject(reason))
    })
  }

  ask(): Promise<void> {
    return Promise.resolve()
  }

  close(): void {
    setImmediate(() => this.gone())
  }

  cut(): void {
    setImmediate(() => this.gone())
  }

  gone(): void {
    if (!this.server.sessions.delete(this)) return
    const place = this.server.knocking.indexOf(this)
    if (place >= 0) this.server.knocking.splice(place, 1)
    this.decide(new Unavailable('hung up'))
    this.listener.broken(new Unavailable('hung up'))
    this.listener.closed()
  }
}

const MAX = 3
const REFUSED = new TypeError('refused')

const poolOf = (server: FakeServer, drained: string[] = [], loginGraceMs = 50) =>
  new HotPool<Client>('a', {
    connect: server.connect,
    withPassword: (dsn) => Promise.resolve(dsn),
    max: MAX,
    queueLimit: Number.POSITIVE_INFINITY,
    waitMs: 0,
    connectMs: 5000,
    idleMs: 0,
    keptIdle: 0,
    maxAgeMs: 0,
    loginGraceMs,
    isLoginRefused: (error) => error === REFUSED,
    onLoginRefused: () => {},
    onDrained: (dsn) => drained.push(dsn),
    onLost: () => {},
  })

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

const acquire = (pool: HotPool<Client>) =>
  new Promise<Client>((resolve, reject) => {
    pool.acquire((error, client) => (client === undefined ? reject(error as Error) : resolve(client)))
  })

describe('HotPool', () => {
  const letAllIn = async (server: FakeServer, until: Promise<unknown>) => {
    let isOver = false
    const over = until.then(
      () => (isOver = true),
      () => (isOver = true),
    )
    while (!isOver) {
      server.letIn()
      await turn()
    }
    await over
  }

  it('loses nobody and nothing, whatever happens in whatever order', async () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.constant('acquire' as const) },
      { weight: 5, arbitrary: fc.constantFrom('give back' as const, 'let in' as const) },
      {
        weight: 2,
        arbitrary: fc.constantFrom('give back broken' as const, 'fail' as const, 'hang up' as const),
      },
      {
        weight: 2,
        arbitrary: fc.constantFrom('replace' as const, 'abort' as const, 'refuse' as const, 'turn' as const),
      },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(step, fc.nat(20)), { maxLength: 60 }),
        fc.boolean(),
        async (steps, isAbrupt) => {
          const server = new FakeServer()
          const drained: string[] = []
          const pool = poolOf(server, drained, 5)
          const out: Client[] = []
          const waiting = new Set<Promise<void>>()
          const moves = new Set<Promise<void>>()
          const used = ['a']
          let asked = 0
          let settled = 0
          let aborting = new AbortController()
          for (const [what, n] of steps) {
            if (what === 'acquire') {
              asked++
              const waits: Promise<void> = acquire(pool)
                .then(
                  (client) => void out.push(client),
                  () => {},
                )
                .finally(() => {
                  settled++
                  waiting.delete(waits)
                })
              waiting.add(waits)
            } else if (what === 'give back' || what === 'give back broken') {
              out.splice(n % (out.length || 1), 1)[0]?.listener.giveBack(what === 'give back broken')
            } else if (what === 'let in') server.letIn()
            else if (what === 'fail') server.refuse(new TypeError('failed'))
            else if (what === 'refuse') server.refuse(REFUSED)
            else if (what === 'hang up') server.hangUp(n)
            else if (what === 'abort') aborting.abort(new TypeError('another came'))
            else if (what === 'replace') {
              aborting.abort(new TypeError('another came'))
              aborting = new AbortController()
              const dsn = `dsn ${moves.size}`
              const { signal } = aborting
              moves.add(
                pool.replace(dsn, signal).then(
                  () => void used.push(dsn),
                  () => {},
                ),
              )
            } else await turn()
            expect(server.sessions.size).to.be.at.most(2 * MAX)
            expect(pool.size).to.be.at.most(2 * MAX)
          }
          if (isAbrupt) {
            let isOver = false
            const ended = pool.end().then(() => (isOver = true))
            while (!isOver) {
              for (const client of out.splice(0)) client.listener.giveBack()
              await turn()
            }
            await Promise.all([ended, ...waiting, ...moves])
            expect([pool.size, server.sessions.size, settled]).to.deep.equal([0, 0, asked])
            return
          }
          // Everybody who waits is served once sessions come back and the server lets them in.
          const isServed = Promise.all([...waiting])
          const givingBack = (async () => {
            let isOver = false
            void isServed.then(() => (isOver = true))
            while (!isOver || out.length > 0) {
              for (const client of out.splice(0)) client.listener.giveBack()
              await turn()
            }
          })()
          await letAllIn(server, Promise.all([isServed, givingBack]))
          expect(settled).to.equal(asked)
          await letAllIn(server, Promise.all(moves))
          const last = used.at(-1)!
          const check = acquire(pool)
          await letAllIn(server, check)
          const client = await check
          expect(client.dsn).to.equal(last)
          client.listener.giveBack()
          await pool.end()
          await turn()
          expect([pool.size, server.sessions.size]).to.deep.equal([0, 0])
          expect(drained).to.have.members(used.slice(0, -1))
        },
      ),
      { numRuns: drill(200, 5000) },
    )
  })

  it('hands an idle session to the next caller, and closes the ones of a DSN that was replaced', async () => {
    const server = new FakeServer()
    const drained: string[] = []
    const pool = poolOf(server, drained)
    const first = acquire(pool)
    await letAllIn(server, first)
    ;(await first).listener.giveBack()
    expect(await acquire(pool)).to.equal(await first)
    const moved = pool.replace('b', new AbortController().signal)
    await letAllIn(server, moved)
    const second = await acquire(pool)
    expect(second.dsn).to.equal('b')
    expect(drained).to.deep.equal([])
    ;(await first).listener.giveBack()
    await turn()
    await turn()
    expect(drained).to.deep.equal(['a'])
  })

  it('makes way for another DSN by closing what comes back when twice the pool is open', async () => {
    const server = new FakeServer()
    const pool = poolOf(server)
    const old = Array.from({ length: MAX }, () => acquire(pool))
    await letAllIn(server, Promise.all(old))
    await letAllIn(server, pool.replace('b', new AbortController().signal))
    const now = Array.from({ length: MAX }, () => acquire(pool))
    await letAllIn(server, Promise.all(now))
    expect(server.sessions.size).to.equal(2 * MAX)
    const third = pool.replace('c', new AbortController().signal)
    const aborting = new AbortController()
    const inVain = pool.replace('d', aborting.signal)
    aborting.abort(new RangeError('no more'))
    await rejection(inVain, RangeError, /no more/)
    ;(await now[0]!).listener.giveBack()
    await letAllIn(server, third)
    expect((await acquire(pool)).dsn).to.equal('c')
    expect(server.most).to.equal(2 * MAX)
  })

  it('refuses at once a login that never worked, and lets whoever comes later wait no longer than the grace', async () => {
    const server = new FakeServer()
    const pool = poolOf(server, [], 400)
    const first = rejection(acquire(pool), TypeError, /refused/)
    await turn()
    server.refuse(REFUSED)
    await first
    const second = acquire(pool)
    await letAllIn(server, second)
    const third = rejection(acquire(pool), TypeError, /refused/)
    await turn()
    server.refuse(REFUSED)
    // Nobody lets in, and nobody refuses again.
    await third
    expect(pool.refusal).to.equal(REFUSED)
    const served = acquire(pool)
    ;(await second).listener.giveBack()
    expect(await served).to.equal(await second)
    const grown = acquire(pool)
    await letAllIn(server, grown)
    await grown
    expect(pool.refusal).to.equal(undefined)
  })
})
