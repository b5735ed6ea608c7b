import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Slice } from './slice.js'
import type { SliceRequest } from './worker.js'

/** A side that has been set up and waits in its own process. */
export interface SideProcess {
  readonly name: string
  readonly readyMs: number
  readonly rss: number
  measure(request: SliceRequest): Promise<Slice>
  end(): Promise<void>
}

const WORKER = fileURLToPath(new URL('./worker.js', import.meta.url))

export async function startSide(name: string, module: URL): Promise<SideProcess> {
  const child = fork(WORKER, [module.href], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const { readyMs, rss } = await reply<{ readyMs: number; rss: number }>(name, child)
  return {
    name,
    readyMs,
    rss,
    measure(request) {
      child.send(request)
      return reply<Slice>(name, child)
    },
    end: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        if (child.connected) child.disconnect()
        setTimeout(() => child.kill('SIGKILL'), 5000).unref()
      }),
  }
}

/** Returns the child's next message. Rejects if the child ends early or reports a failure. */
function reply<T>(name: string, child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new TypeError(`${name} ended early (${code})`))
    child.once('exit', ended)
    child.once('message', (message: T | { failed: string }) => {
      child.off('exit', ended)
      if (typeof message === 'object' && message !== null && 'failed' in message)
        reject(new TypeError(`${name}: ${message.failed}`))
      else resolve(message)
    })
  })
}
