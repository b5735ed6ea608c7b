import { setTimeout as pause } from 'node:timers/promises'
import type { ImageName } from './image.js'

/** A call of a service, exported by the module of `--load`. Rejects if the call fails. */
export type Call = (
  url: string,
  about: { readonly image: ImageName; readonly worker: number },
) => Promise<unknown>

/** The results of one image's calls in one phase. */
export interface Calls {
  readonly image: ImageName
  readonly calls: number
  readonly failures: number
  readonly slowestMs: number
}

/** The calls that failed with the same message. */
export interface FailedCalls {
  readonly phase: string
  readonly image: ImageName
  readonly message: string
  readonly count: number
}

const AFTER_A_FAILURE_MS = 20

/** Callers that call the images alternately, each as fast as responses arrive. */
export class Load {
  readonly #images = new Map<ImageName, { readonly url: string; readonly inFlight: Set<Promise<void>> }>()
  readonly #failures = new Map<string, FailedCalls>()
  #phase = ''
  #calls = new Map<ImageName, Calls>()
  #isOver = false

  constructor(private readonly call: Call) {}

  /** Runs until `end`. */
  async run(workers: number): Promise<void> {
    await Promise.all(Array.from({ length: workers }, (_, worker) => this.#work(worker)))
  }

  end(): void {
    this.#isOver = true
  }

  /** Adds an image. Calls also go to it from now on, as from a load balancer. */
  add(image: ImageName, url: string): void {
    this.#images.set(image, { url, inFlight: new Set() })
  }

  /** Removes an image, to which no new calls are sent. Resolves when no call is in flight. */
  async remove(image: ImageName): Promise<void> {
    const { inFlight } = this.#images.get(image) ?? {}
    this.#images.delete(image)
    await Promise.all([...(inFlight ?? [])])
  }

  /**
   * Starts a phase.
   * @returns a function that returns the results of the calls that end until the next phase.
   */
  begin(phase: string): () => readonly Calls[] {
    const calls = new Map<ImageName, Calls>()
    this.#phase = phase
    this.#calls = calls
    return () => [...calls.values()]
  }

  /** True if each image has responded since the phase began. */
  get isEachCalled(): boolean {
    return [...this.#images.keys()].every((image) => this.#calls.has(image))
  }

  get failures(): readonly FailedCalls[] {
    return [...this.#failures.values()]
  }

  async #work(worker: number): Promise<void> {
    for (let at = worker; !this.#isOver; at++) {
      const images = [...this.#images]
      const target = images[at % images.length]
      if (target === undefined) await pause(AFTER_A_FAILURE_MS)
      else {
        const [image, { url, inFlight }] = target
        const called = this.#one(image, url, worker)
        inFlight.add(called)
        await called
        inFlight.delete(called)
      }
    }
  }

  async #one(image: ImageName, url: string, worker: number): Promise<void> {
    const began = performance.now()
    const message = await this.call(url, { image, worker }).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    const ms = Math.round(performance.now() - began)
    const { calls, failures, slowestMs } = this.#calls.get(image) ?? { calls: 0, failures: 0, slowestMs: 0 }
    this.#calls.set(image, {
      image,
      calls: calls + 1,
      failures: failures + (message === undefined ? 0 : 1),
      slowestMs: Math.max(slowestMs, ms),
    })
    if (message === undefined) return
    const key = JSON.stringify([this.#phase, image, message])
    const count = (this.#failures.get(key)?.count ?? 0) + 1
    this.#failures.set(key, { phase: this.#phase, image, message, count })
    await pause(AFTER_A_FAILURE_MS)
  }
}
