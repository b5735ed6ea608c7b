import { expect } from 'chai'
import * as fc from 'fast-check'
import { Unavailable } from '../../lib/errors.js'
import { HotPool } from '../../lib/persistence/hot-reload/pool.js'
import type { Connection, Keeper } from '../../lib/persistence/hot-reload/session.js'
import { drill } from '../support/drill.js'
import { rejection } from '../support/rejection.js'

/** A server within the process: it lets in, refuses, loses and closes when it is told to. */
class Door {
  readonly sessions = new Set<Client>()
  readonly knocking: Client[] = []
  most = 0

  readonly connect = (dsn: string, keeper: Keeper): Connection<Client> => {
    const client = new Client(dsn, keeper, this)
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
    readonly keeper: Keeper,
    private readonly door: Door,
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
    if (!this.door.sessions.delete(this)) return
    const place = this.door.knocking.indexOf(this)
    if (place >= 0) this.door.knocking.splice(place, 1)
    this.decide(new Unavailable('hung up'))
    this.keeper.broken(new Unavailable('hung up'))
    this.keeper.closed()
  }
}

const MAX = 3
const REFUSED = new TypeError('refused')

const poolOf = (door: Door, drained: string[] = [], loginGraceMs = 50) =>
  new HotPool<Client>('a', {
    connect: door.connect,
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
  const letAllIn = async (door: Door, until: Promise<unknown>) => {
    let isOver = false
    const over = until.then(
      () => (isOver = true),
      () => (isOver = true),
    )
    while (!isOver) {
      door.letIn()
      await turn()
    }
    await over
  }

  it('loses nobody and nothing, whatever happens in whatever order', async function () {
    this.timeout(drill(30_000, 300_000))
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
          const door = new Door()
          const drained: string[] = []
          const pool = poolOf(door, drained, 5)
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
              out.splice(n % (out.length || 1), 1)[0]?.keeper.giveBack(what === 'give back broken')
            } else if (what === 'let in') door.letIn()
            else if (what === 'fail') door.refuse(new TypeError('failed'))
            else if (what === 'refuse') door.refuse(REFUSED)
            else if (what === 'hang up') door.hangUp(n)
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
            expect(door.sessions.size).to.be.at.most(2 * MAX)
            expect(pool.size).to.be.at.most(2 * MAX)
          }
          if (isAbrupt) {
            let isOver = false
            const ended = pool.end().then(() => (isOver = true))
            while (!isOver) {
              for (const client of out.splice(0)) client.keeper.giveBack()
              await turn()
            }
            await Promise.all([ended, ...waiting, ...moves])
            expect([pool.size, door.sessions.size, settled]).to.deep.equal([0, 0, asked])
            return
          }
          // Everybody who waits is served once sessions come back and the door is open.
          const isServed = Promise.all([...waiting])
          const givingBack = (async () => {
            let isOver = false
            void isServed.then(() => (isOver = true))
            while (!isOver || out.length > 0) {
              for (const client of out.splice(0)) client.keeper.giveBack()
              await turn()
            }
          })()
          await letAllIn(door, Promise.all([isServed, givingBack]))
          expect(settled).to.equal(asked)
          await letAllIn(door, Promise.all(moves))
          const last = used.at(-1)!
          const check = acquire(pool)
          await letAllIn(door, check)
          const client = await check
          expect(client.dsn).to.equal(last)
          client.keeper.giveBack()
          await pool.end()
          await turn()
          expect([pool.size, door.sessions.size]).to.deep.equal([0, 0])
          expect(drained).to.have.members(used.slice(0, -1))
        },
      ),
      { numRuns: drill(200, 5000) },
    )
  })

  it('hands an idle session to the next caller, and closes the ones of a DSN that was replaced', async () => {
    const door = new Door()
    const drained: string[] = []
    const pool = poolOf(door, drained)
    const first = acquire(pool)
    await letAllIn(door, first)
    ;(await first).keeper.giveBack()
    expect(await acquire(pool)).to.equal(await first)
    const moved = pool.replace('b', new AbortController().signal)
    await letAllIn(door, moved)
    const second = await acquire(pool)
    expect(second.dsn).to.equal('b')
    expect(drained).to.deep.equal([])
    ;(await first).keeper.giveBack()
    await turn()
    await turn()
    expect(drained).to.deep.equal(['a'])
  })

  it('makes way for another DSN by closing what comes back when twice the pool is open', async () => {
    const door = new Door()
    const pool = poolOf(door)
    const old = Array.from({ length: MAX }, () => acquire(pool))
    await letAllIn(door, Promise.all(old))
    await letAllIn(door, pool.replace('b', new AbortController().signal))
    const now = Array.from({ length: MAX }, () => acquire(pool))
    await letAllIn(door, Promise.all(now))
    expect(door.sessions.size).to.equal(2 * MAX)
    const third = pool.replace('c', new AbortController().signal)
    const aborting = new AbortController()
    const inVain = pool.replace('d', aborting.signal)
    aborting.abort(new RangeError('no more'))
    await rejection(inVain, RangeError, /no more/)
    ;(await now[0]!).keeper.giveBack()
    await letAllIn(door, third)
    expect((await acquire(pool)).dsn).to.equal('c')
    expect(door.most).to.equal(2 * MAX)
  })

  it('refuses at once a login that never worked, and lets whoever comes later wait no longer than the grace', async () => {
    const door = new Door()
    const pool = poolOf(door, [], 400)
    const first = rejection(acquire(pool), TypeError, /refused/)
    await turn()
    door.refuse(REFUSED)
    await first
    const second = acquire(pool)
    await letAllIn(door, second)
    const third = rejection(acquire(pool), TypeError, /refused/)
    await turn()
    door.refuse(REFUSED)
    // Nobody lets in, and nobody refuses again.
    await third
    expect(pool.refusal).to.equal(REFUSED)
    const served = acquire(pool)
    ;(await second).keeper.giveBack()
    expect(await served).to.equal(await second)
    const grown = acquire(pool)
    await letAllIn(door, grown)
    await grown
    expect(pool.refusal).to.equal(undefined)
  })
})
