import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../../errors/failure.js'

export type ImageName = 'old' | 'new'

/** One version of a service that runs. */
export interface Image {
  readonly name: ImageName
  /** `http://127.0.0.1:<port>`. */
  readonly url: string
  /** Rejects when it ends before it is told to. */
  readonly broken: Promise<never>
  /** Sends SIGTERM and waits; SIGKILL where it does not end in time. */
  readonly stop: () => Promise<void>
}

export interface ImageOptions {
  /** A command line for the shell; `{port}` stands for its port, which `PORT` has too. */
  readonly command: string
  readonly databaseUrl: string
  /** The path that responds with 200 once it takes calls. */
  readonly ready: string
}

const LONGEST_START_MS = 60_000
const LONGEST_END_MS = 30_000
const BETWEEN_PROBES_MS = 100

/** Starts an image and waits until it is ready. @throws {Failure} when it ends or is not ready within a minute. */
export async function startImage(
  name: ImageName,
  { command, databaseUrl, ready }: ImageOptions,
): Promise<Image> {
  const port = await freePort()
  const child = spawn(command.replaceAll('{port}', String(port)), {
    shell: true,
    // A group of its own: the shell's child gets the signals as well.
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ASHLAR_DATABASE_URL: databaseUrl, PORT: String(port) },
  })
  let isStopping = false
  const ended = once(child, 'exit').then(([code, signal]) =>
    signal === null ? `exit status ${code}` : `signal ${signal}`,
  )
  const broken = ended.then((how) => {
    if (isStopping) return new Promise<never>(() => undefined)
    throw new Failure('differs', `the ${name} image ended by itself (${how}): ${command}`)
  })
  broken.catch(() => undefined)
  const stop = async () => {
    isStopping = true
    signal(child, 'SIGTERM')
    const late = setTimeout(() => signal(child, 'SIGKILL'), LONGEST_END_MS)
    await ended
    clearTimeout(late)
  }
  const url = `http://127.0.0.1:${port}`
  const ending = new AbortController()
  try {
    await Promise.race([untilReady(name, url + ready, ending.signal), broken])
  } catch (error) {
    await stop()
    throw error
  } finally {
    ending.abort()
  }
  return { name, url, broken, stop }
}

async function untilReady(name: ImageName, url: string, ending: AbortSignal): Promise<void> {
  const end = performance.now() + LONGEST_START_MS
  while (!ending.aborted) {
    const status = await fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
      (response) => response.body?.cancel().then(() => response.status) ?? response.status,
      () => 0,
    )
    if (status === 200) return
    if (performance.now() > end)
      throw new Failure(
        'differs',
        `the ${name} image is not ready after ${LONGEST_START_MS / 1_000} s: ${url} ${status === 0 ? 'does not respond' : `responds with ${status}`}; it listens on PORT, and --ready names another path`,
      )
    await pause(BETWEEN_PROBES_MS)
  }
}

function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name)
  } catch {
    // It has ended.
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : 0))
    })
  })
