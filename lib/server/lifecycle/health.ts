import { ErrNotFound, InvalidArgument } from '../../errors.js'
import {
  Health,
  type HealthCheckResponse,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../../gen/grpc/health/v1/health_pb.js'
import type { Implementation } from '../chain/handler.js'
import { MAX_NAME_CHARACTERS } from '../chain/method.js'
import type { Logger } from '../observability/logger.js'
import { type CheckResult, type ReadinessCheck, runChecks } from './readiness.js'
import { ReadinessLog } from './readiness-log.js'
import type { Rule } from '../authz/rules.js'

const INTERVAL_MS = 5_000
/** The minimum time between two runs of the checks that failures trigger. */
const EARLIEST_MS = 1_000

/** The check that fails during shutdown. */
const SHUTDOWN: CheckResult = { name: 'shutdown', ok: false }

/** The health of a server. The readiness checks set it, and `grpc.health.v1` and `/readyz` report it. */
export class HealthState {
  readonly #checks: () => readonly ReadinessCheck[]
  readonly #log: ReadinessLog
  readonly #watchers = new Set<() => void>()
  #serving = false
  #stopped = false
  #ended = false
  #timer: NodeJS.Timeout | undefined
  #early: NodeJS.Timeout | undefined
  #checkedAt = -EARLIEST_MS
  #running: Promise<CheckResult[]> | undefined

  constructor(checks: () => readonly ReadinessCheck[], logger: Logger) {
    this.#checks = checks
    this.#log = new ReadinessLog(logger)
  }

  get serving(): boolean {
    return this.#serving
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Runs the checks now and then every 5 seconds. */
  async start(): Promise<void> {
    await this.check()
    this.#timer = setInterval(() => void this.check(), INTERVAL_MS)
    this.#timer.unref()
  }

  /** Reports NOT_SERVING permanently. */
  stop(): void {
    this.#stopped = true
    clearInterval(this.#timer)
    clearTimeout(this.#early)
    this.#set(false)
  }

  /** Ends all watches, because a drain would wait for them. */
  end(): void {
    this.#ended = true
    for (const changed of this.#watchers) changed()
  }

  /** Runs every check and updates gRPC health. Concurrent callers share one run. */
  check(): Promise<CheckResult[]> {
    if (this.#stopped) return Promise.resolve([SHUTDOWN])
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
    return this.#running
  }

  /** Runs the checks within a second, because something has started to fail. */
  doubt(): void {
    if (this.#timer === undefined || this.#stopped || this.#early !== undefined) return
    const waitMs = Math.max(0, this.#checkedAt + EARLIEST_MS - performance.now())
    this.#early = setTimeout(() => {
      this.#early = undefined
      void this.check()
    }, waitMs).unref()
  }

  async #run(): Promise<CheckResult[]> {
    this.#checkedAt = performance.now()
    const results = await runChecks(this.#checks())
    if (this.#stopped) return [SHUTDOWN]
    for (const result of results) this.#log.tell(result)
    this.#set(results.every(({ ok }) => ok))
    return results
  }

  /**
   * Calls back at every change.
   * @returns a function that stops the callbacks.
   */
  watch(changed: () => void): () => void {
    this.#watchers.add(changed)
    return () => this.#watchers.delete(changed)
  }

  #set(serving: boolean): void {
    const next = serving && !this.#stopped
    if (next === this.#serving) return
    this.#serving = next
    for (const changed of this.#watchers) changed()
  }
}

/** Health checks are public because load balancers have no identity. */
export const healthRules: readonly Rule[] = Health.methods.map(({ name }) => ({
  method: `/${Health.typeName}/${name}`,
  public: true,
}))

/**
 * @param knows - returns true if a service with that full name is served.
 * @param listed - the full names of the services that List returns in addition to the server itself.
 */
export const healthService = (
  state: HealthState,
  knows: (service: string) => boolean,
  listed: () => readonly string[],
): Implementation<typeof Health> => {
  const statusOf = (service: string): ServingStatus => {
    if (service !== '' && !knows(service)) return ServingStatus.SERVICE_UNKNOWN
    return state.serving ? ServingStatus.SERVING : ServingStatus.NOT_SERVING
  }
  return {
    check: ({ service }) => {
      const status = statusOf(service)
      if (status === ServingStatus.SERVICE_UNKNOWN) throw new ErrNotFound()
      return { status }
    },
    list: () => ({
      statuses: Object.fromEntries(['', ...listed()].map((name) => [name, { status: statusOf(name) }])),
    }),
    watch: ({ service }, { signal }) => {
      if (service.length > MAX_NAME_CHARACTERS)
        throw new InvalidArgument('service', `is longer than ${MAX_NAME_CHARACTERS} characters`)
      return changes(state, () => statusOf(service), signal)
    },
  }
}

/** Yields the current status and every change. It ends with the server, which would otherwise wait for it. */
async function* changes(
  state: HealthState,
  read: () => ServingStatus,
  signal: AbortSignal,
): AsyncIterable<Pick<HealthCheckResponse, 'status'>> {
  let last: ServingStatus | undefined
  while (!signal.aborted) {
    const status = read()
    if (status !== last) {
      last = status
      yield { status }
      continue
    }
    if (state.ended) return
    await nextChange(state, signal)
  }
}

const nextChange = (state: HealthState, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      stop()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const stop = state.watch(done)
    signal.addEventListener('abort', done, { once: true })
    if (signal.aborted) done()
  })
