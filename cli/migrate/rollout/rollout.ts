import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Migrator } from '../../../lib/migrations/index.js'
import { Failure } from '../../errors/failure.js'
import { foreignModule } from '../../loading/foreign-module.js'
import { type Image, type ImageName, startImage } from './image.js'
import { type Call, type Calls, type FailedCalls, Load } from './load.js'

export interface RolloutOptions {
  readonly old: string
  readonly new: string
  readonly databaseUrl: string
  readonly ready: string
  readonly seconds: number
  readonly workers: number
  /** Called with each phase after it has ended. */
  readonly onPhase: (phase: Phase) => void
}

export interface Phase {
  readonly name: string
  readonly ms: number
  readonly images: readonly Calls[]
}

export interface Rollout {
  /** The migrations that were applied while the old image ran. */
  readonly applied: readonly string[]
  readonly phases: readonly Phase[]
  readonly calls: number
  readonly failures: readonly FailedCalls[]
  /** The folder with the images' output; undefined if no call failed. */
  readonly logs: string | undefined
}

/** The maximum duration of a phase in milliseconds, unless a longer one was requested. */
const MAX_MS = 60_000
const LOOK_EVERY_MS = 20

const UNCHANGED = 'nothing was applied to the copy'

/**
 * Simulates a deployment: the old image runs alone, pending migrations are applied, both images run, the old
 * one ends, and the new one runs alone. Calls are sent throughout.
 * @throws {Failure} if an image does not start or ends by itself.
 */
export async function tryRollout(migrator: Migrator, call: Call, options: RolloutOptions): Promise<Rollout> {
  const { databaseUrl, ready, seconds, workers, onPhase } = options
  const load = new Load(call)
  const running: Image[] = []
  const phases: Phase[] = []
  const logs = mkdtempSync(join(tmpdir(), 'ashlar-rollout-'))
  let isKept = false
  const start = async (name: ImageName) => {
    const image = await startImage(name, {
      ...{ command: options[name], databaseUrl, ready, log: join(logs, `${name}.log`) },
    })
    running.push(image)
    return image
  }
  const phase = async <T>(name: string, work: () => Promise<T>, ending = async () => {}): Promise<T> => {
    const calls = load.begin(name)
    const began = performance.now()
    const result = await Promise.race([work(), ...running.map(({ broken }) => broken)])
    const ms = Math.round(performance.now() - began)
    await ending()
    const phase = { name, ms, images: calls() }
    phases.push(phase)
    onPhase(phase)
    return result
  }
  const aWhile = async () => {
    const until = performance.now() + MAX_MS
    await pause(seconds * 1_000)
    // The first call of an image may take longer. A phase without any response would not be meaningful.
    while (!load.isEachCalled && performance.now() < until) await pause(LOOK_EVERY_MS)
  }
  let copy = UNCHANGED
  try {
    const old = await start('old')
    load.add('old', old.url)
    const calling = load.run(workers)
    await phase('the old image alone', aWhile)
    const { applied } = await phase('migrations while the old image runs', () => {
      copy = 'ashlar migrate status shows what was applied to the copy'
      return migrator.up()
    })
    copy = applied.length === 0 ? UNCHANGED : `the copy has ${applied.join(', ')} now`
    const next = await phase('the new image starts', () => start('new'))
    load.add('new', next.url)
    await phase('both images', aWhile)
    await phase('the old image ends', async () => {
      await load.remove('old')
      await old.stop()
    })
    await phase('the new image alone', aWhile, () => {
      load.end()
      return calling
    })
    const { failures } = load
    isKept = failures.length > 0
    const calls = phases.flatMap(({ images }) => images.map((one) => one.calls))
    return {
      ...{ applied, phases, calls: calls.reduce((sum, one) => sum + one, 0), failures },
      logs: isKept ? logs : undefined,
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    isKept = true
    throw new Failure(error.exit, `${error.message}; the images' output is in ${logs}; ${copy}`, {
      cause: error,
    })
  } finally {
    load.end()
    await Promise.all(running.map((image) => image.stop()))
    if (!isKept) rmSync(logs, { recursive: true })
  }
}

/**
 * Returns the default export of the module.
 * @throws {Failure} if it is not a function.
 */
export async function callOf(module: string): Promise<Call> {
  const { default: call } = await foreignModule(module)
  if (typeof call === 'function') return call as Call
  throw new Failure(
    'input',
    `${module} has no function as its default export: export default async (url, { image, worker }) => { … } makes one call, and rejects if it fails`,
  )
}
