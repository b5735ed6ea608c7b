import type { ChildProcess } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, resolve, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Failure } from '../errors/failure.js'
import type { Paint } from '../output/paint.js'
import { bufOf } from '../proto/buf.js'
import { toolOf } from '../proto/project-tool.js'
import { tableLines } from '../check/check-lines.js'
import { firstCheck } from './first-check.js'
import { watchedPaths } from './watched-paths.js'
import { watchingCompiler } from './compiler.js'
import { generatedCode } from './generated-code.js'
import { Service } from './service.js'
import { startProblemLines } from './start-problems.js'
import { errorLines, missesWhatIsThere, type SourceError } from './source-error.js'

export interface DevelopOptions {
  readonly folder: string
  /** The compiled module that starts the service. */
  readonly entry: string
  readonly say: (lines: readonly string[]) => void
  readonly paint: Paint
  /** Ends the command. */
  readonly signal: AbortSignal
}

/**
 * Compiles and starts the service, and repeats this after each change until the signal aborts. If the code
 * does not compile, the last version that did continues to run.
 * @throws {Failure} if a tool is missing, or if the compiler ends.
 */
export async function develop(options: DevelopOptions): Promise<void> {
  const { folder, entry, say, paint, signal } = options
  const tsc = toolOf(folder, 'tsc', 'typescript')
  bufOf(folder)
  if (!existsSync(join(folder, 'proto')))
    throw new Failure('input', 'there is no folder proto here: change to the folder of the project')

  /** The files that have changed since the service was started. */
  const changed = new Set<string>()
  let isStarted = false
  let isRunning = false
  /** The last start of the service, in milliseconds since the epoch, comparable with file times. */
  let startedAt = 0
  /**
   * The time at which this command last generated code, and the time of the last change to generated code,
   * which `ashlar generate` may also cause.
   */
  let generatedAt = -Infinity
  let codeChangedAt = -Infinity
  let compilingSince: number | undefined
  let compiles: () => void = () => undefined
  let compilations = 0
  let since = performance.now()
  const tell = (errors: readonly SourceError[]) => {
    say([
      ...errors.slice(0, MAX_ERRORS).flatMap((error) => errorLines(error, folder, paint)),
      paint.bad(
        `${errors.length === 1 ? '1 error' : `${errors.length} errors`}; ${isStarted ? 'the last working build keeps running' : 'the service starts once there are no mistakes'}`,
      ),
    ])
  }
  /** The problems printed since the last change. */
  const known = new Set<string>()
  const check = async (): Promise<void> => {
    const found = await firstCheck(folder, signal)
    if (found === undefined) return
    for (const { text } of found.problems) known.add(text)
    say([
      ...tableLines(found, paint),
      ...startProblemLines({ subject: 'server', values: found.problems }, folder, paint),
    ])
  }
  const service = new Service(folder, entry, {
    ready: (address) => say([paint.good(`ready after ${seconds(since)}${docsAt(address)}`)]),
    refused: ({ subject, values }) => {
      const unknown = values.filter(
        ({ text, entity = '' }) => !known.has(text) && !known.has(`${entity}: ${text}`),
      )
      say(startProblemLines({ subject, values: unknown }, folder, paint))
    },
    ended: (exit, by) => {
      isRunning = false
      say([
        paint.bad(
          `the service ended with ${exit ?? by ?? 'no status'}; it starts again after the next change`,
        ),
      ])
    },
  })

  // Runs one task at a time, so that a restart is not overtaken by the next one.
  let last = Promise.resolve()
  const enqueue = (work: () => Promise<void>) => {
    last = last
      .then(() => (signal.aborted ? undefined : work()))
      .catch((error: unknown) => failed(error as Error))
  }
  const generate = async (): Promise<void> => {
    const { errors, changed: files } = await generatedCode(folder)
    if (errors.length > 0) tell(errors)
    else if (files.length > 0) {
      generatedAt = performance.now()
      say(files.map((path) => `${paint.dim('generated')} ${path}`))
    }
  }
  const restart = async (): Promise<void> => {
    const paths = [...changed]
    if (isRunning && paths.length > 0 && paths.every((path) => path.startsWith('test'))) {
      say([`compiled after ${seconds(since)}; not restarted, because only tests changed`])
      changed.clear()
      return
    }
    if (isRunning && newestIn(dirname(resolve(folder, entry))) < startedAt) {
      if (paths.length > 0)
        say([`compiled after ${seconds(since)}; not restarted, because the code is the same`])
      changed.clear()
      return
    }
    changed.clear()
    known.clear()
    startedAt = Date.now()
    if (!isStarted) await check()
    if (signal.aborted) return
    isStarted = true
    isRunning = true
    await service.restart()
  }

  let failed: (error: Error) => void = () => undefined
  const ended = new Promise<void>((resolve, reject) => {
    failed = reject
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  let compiler: ChildProcess | undefined
  const watching = watchedPaths(folder, ['proto', 'src', 'test'], (paths) => {
    const sources = paths.filter((path) => /\.(ts|mts|proto)$/.test(path))
    if (sources.length === 0) return
    for (const path of sources) changed.add(path)
    const written = sources.filter((path) => !/(^|[\\/])gen[\\/]/.test(path))
    if (written.length < sources.length) codeChangedAt = performance.now()
    if (written.length === 0) return
    since = performance.now()
    say(written.map((path) => `${paint.dim('changed')} ${path}`))
    if (written.some((path) => path.endsWith('.proto'))) enqueue(generate)
  })
  try {
    await generate()
    if (signal.aborted) return
    compiler = watchingCompiler(tsc, folder, {
      started: () => {
        compilingSince = performance.now()
        compiles()
      },
      compiled: (errors) => {
        const compilation = ++compilations
        const startedAt = compilingSince ?? performance.now()
        compilingSince = undefined
        const take = async () => {
          // An error about code that has been generated in the meantime is not a mistake, because another
          // compilation follows.
          const isLast = () => compilation === compilations && compilingSince === undefined
          const codeAt = errors.length === 0 ? generatedAt : Math.max(generatedAt, codeChangedAt)
          const isOld = startedAt < codeAt || errors.some((error) => missesWhatIsThere(error, folder))
          if (isOld && isLast())
            await Promise.race([
              new Promise<void>((resolve) => (compiles = resolve)),
              setTimeout(NOTICED_MS, undefined, { signal, ref: false }).catch(() => undefined),
            ])
          if (signal.aborted || !isLast()) return
          if (errors.length === 0) await restart()
          else tell(errors)
        }
        if (errors.length === 0) enqueue(take)
        // The compiler may be faster than the watcher, which then generates the missing code.
        else
          void setTimeout(WATCHED_MS, undefined, { signal, ref: false }).then(
            () => enqueue(take),
            () => undefined,
          )
      },
      ended: () => failed(new Failure('input', 'the compiler exited: run npx tsc to see why')),
    })
    await ended
  } finally {
    watching.close()
    compiler?.removeAllListeners('close')
    compiler?.kill()
    await last.catch(() => undefined)
    await service.stop()
  }
}

/** Returns the time of the newest file in a folder. A compiler that finds no change writes nothing. */
const newestIn = (folder: string): number =>
  Math.max(
    0,
    ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(
      (path) => statSync(join(folder, path), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    ),
  )

const MAX_ERRORS = 20
/** The maximum time until the compiler notices a changed file on a busy machine, in milliseconds. */
const NOTICED_MS = 10_000
/** The maximum time until the watcher reports a change, in milliseconds. */
const WATCHED_MS = 200

const seconds = (since: number): string => `${((performance.now() - since) / 1_000).toFixed(1)} s`

/** Returns the address of the page for trying out requests. */
const docsAt = (address: string | undefined): string =>
  address === undefined ? '' : `: http://${address.replace(/^(0\.0\.0\.0|\[::\])?:/, 'localhost:')}/docs`
