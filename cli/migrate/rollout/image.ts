import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../../errors/failure.js'
import { terminalLine } from '../../output/terminal-line.js'

export type ImageName = 'old' | 'new'

/** A running version of a service. */
export interface Image {
  readonly name: ImageName
  /** The address, `http://127.0.0.1:<port>`. */
  readonly url: string
  /** Rejects if it ends before it is stopped. */
  readonly broken: Promise<never>
  /** Sends SIGTERM and waits, then sends SIGKILL if the image does not end in time. */
  readonly stop: () => Promise<void>
}

export interface ImageOptions {
  /** A shell command line. `{port}` stands for the port, which is also in the environment variable `PORT`. */
  readonly command: string
  readonly databaseUrl: string
  /** The path that responds with 200 once the image accepts calls. */
  readonly ready: string
  /** The file to which its output is appended. */
  readonly log: string
  /** The maximum time until then, in milliseconds. */
  readonly longestStartMs?: number
}

const LONGEST_START_MS = 60_000
const LONGEST_END_MS = 30_000
const BETWEEN_PROBES_MS = 100
const MAX_SHOWN = 300

/**
 * Starts an image and waits until it is ready.
 * @throws {Failure} if it ends, or if it is not ready within a minute.
 */
export async function startImage(
  name: ImageName,
  { command, databaseUrl, ready, log, longestStartMs = LONGEST_START_MS }: ImageOptions,
): Promise<Image> {
  const port = await freePort()
  const output = openSync(log, 'a')
  const child = spawn(command.replaceAll('{port}', String(port)), {
    shell: true,
    // A separate process group, so that the shell's child receives the signals as well.
    detached: true,
    stdio: ['ignore', output, output],
    env: { ...process.env, ASHLAR_DATABASE_URL: databaseUrl, PORT: String(port) },
  })
  closeSync(output)
  let isStopping = false
  const ended = once(child, 'exit').then(([code, signal]) =>
    signal === null ? `exit status ${code}` : `signal ${signal}`,
  )
  const broken = ended.then((how) => {
    if (isStopping) return new Promise<never>(() => undefined)
    throw new Failure('differs', `the ${name} image exited by itself (${how}): ${command}`)
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
    await Promise.race([untilReady(name, url + ready, longestStartMs, ending.signal), broken])
  } catch (error) {
    await stop()
    throw error
  } finally {
    ending.abort()
  }
  return { name, url, broken, stop }
}

async function untilReady(
  name: ImageName,
  url: string,
  longestMs: number,
  ending: AbortSignal,
): Promise<void> {
  const end = performance.now() + longestMs
  while (!ending.aborted) {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined)
    if (response?.status === 200) return void (await response.body?.cancel())
    const answer =
      response === undefined
        ? 'does not respond: it must listen on PORT'
        : `responds with ${[response.status, await beginningOf(response).catch(() => '')].filter((part) => part !== '').join(': ')}; if another path reports readiness, pass it with --ready`
    if (performance.now() > end)
      throw new Failure(
        'differs',
        `the ${name} image is not ready after ${longestMs / 1_000} s: ${url} ${answer}`,
      )
    await pause(BETWEEN_PROBES_MS)
  }
}

/** Returns the first part of a response body on one line. The rest is not read. */
async function beginningOf({ body }: Response): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (text.length > MAX_SHOWN) break
  }
  return terminalLine(text, MAX_SHOWN)
}

function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name)
  } catch {
    // The process has ended.
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    // Otherwise a client that still calls an earlier image on this port would keep it open.
    const server = createServer((socket) => socket.destroy())
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : 0))
    })
  })
