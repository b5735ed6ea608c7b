import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../support/until.js'

/** How long after the first failed call a server says at the latest that it is not ready. */
const NOTICED_MS = 5_000
/**
 * How long after its end an outage may be felt: a connection that was waited for is given up after 10
 * seconds.
 */
const RECOVERED_MS = 20_000
/** What a caller is told during an outage: come again, or that its time is over. */
const TOLD = [503, 504]
/** Writes that are acknowledged before and after an outage. */
const ENOUGH = 50

interface Seen {
  readonly at: number
  readonly status: number
}

interface Failure extends Seen {
  readonly tookMs: number
}

/** What was measured of an outage, in milliseconds. */
export interface OutageTimes {
  /** From the first failed call to the first probe that was refused. */
  readonly noticedMs: number
  /** From the end to the first probe that succeeded. */
  readonly recoveredMs: number
  /** The failed call that took longest. */
  readonly slowestMs: number
  readonly failed: number
}

/** Callers that write without a pause, and one that asks whether the server is ready. */
export class Traffic {
  /** What a write was named that was acknowledged. */
  readonly acknowledged: string[] = []
  readonly #failures: Failure[] = []
  readonly #probes: Seen[] = []
  readonly #loops: Promise<void>[]
  #isOver = false
  #count = 0

  /** @param write - sends a write with that name. */
  constructor(
    private readonly http: string,
    write: (name: string) => Promise<Response>,
    callers = 6,
  ) {
    this.#loops = Array.from({ length: callers }, () => this.#write(write))
    this.#loops.push(this.#probe())
  }

  async #write(write: (name: string) => Promise<Response>): Promise<void> {
    while (!this.#isOver) {
      const name = `w${this.#count++}`
      const began = performance.now()
      const response = await write(name)
      await response.arrayBuffer()
      if (response.status === 200) this.acknowledged.push(name)
      else this.#fail(response.status, began)
      await pause(response.status === 200 ? 5 : 50)
    }
  }

  #fail(status: number, began: number): void {
    const at = performance.now()
    this.#failures.push({ at, status, tookMs: at - began })
  }

  async #probe(): Promise<void> {
    while (!this.#isOver) {
      const response = await fetch(`${this.http}/readyz`)
      await response.arrayBuffer()
      this.#probes.push({ at: performance.now(), status: response.status })
      await pause(50)
    }
  }

  /**
   * Lets an outage happen under the traffic.
   * @param lastsMs - how long it goes on after the server has said that it is not ready.
   */
  async through(
    outage: { begin(): Promise<void>; end(): Promise<void> },
    lastsMs: number,
  ): Promise<OutageTimes> {
    const came = performance.now()
    await this.#works()
    const begun = performance.now()
    const before = this.#failures.length
    await outage.begin()
    await until(() => this.#refused(begun) !== undefined)
    const refused = this.#refused(begun)?.at ?? 0
    await pause(lastsMs)
    const last = performance.now()
    await outage.end()
    const ended = performance.now()
    await until(() => this.#succeeded(ended) !== undefined)
    const succeeded = this.#succeeded(ended)?.at ?? 0
    await this.#works()
    const failures = this.#failures.slice(before)
    expect(failures.map(({ status }) => status).filter((status) => !TOLD.includes(status))).to.deep.equal([])
    expect(statuses(this.#probes, came, begun)).to.deep.equal([200])
    expect(statuses(this.#probes, refused, last)).to.deep.equal([503])
    expect(statuses(this.#probes, succeeded, performance.now())).to.deep.equal([200])
    const times = {
      noticedMs: Math.round(refused - (failures[0]?.at ?? refused)),
      recoveredMs: Math.round(succeeded - ended),
      slowestMs: Math.round(Math.max(0, ...failures.map(({ tookMs }) => tookMs))),
      failed: failures.length,
    }
    process.stdout.write(`        ${JSON.stringify(times)}\n`)
    expect(times.noticedMs).to.be.at.most(NOTICED_MS)
    expect(times.recoveredMs).to.be.at.most(RECOVERED_MS)
    return times
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#loops)
  }

  async #works(): Promise<void> {
    const wanted = this.acknowledged.length + ENOUGH
    await until(() => this.acknowledged.length >= wanted)
  }

  #refused(since: number): Seen | undefined {
    return this.#probes.find(({ at, status }) => at > since && status !== 200)
  }

  #succeeded(since: number): Seen | undefined {
    return this.#probes.find(({ at, status }) => at > since && status === 200)
  }
}

const statuses = (seen: readonly Seen[], from: number, to: number): readonly number[] => [
  ...new Set(seen.filter(({ at }) => at >= from && at <= to).map(({ status }) => status)),
]
