import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { benchUrl } from '../sides/postgres-address.js'
import type { ServerReport } from './serving.js'

/** A server under load in its own process. */
export interface ServerProcess {
  readonly ports: ServerReport['ports']
  /** Returns the CPU time of all its threads so far, in microseconds. */
  cpuUs(): Promise<number>
  rss(): Promise<number>
  end(): Promise<void>
}

/**
 * Starts a module that serves and calls `process.send({ ports })` when it is ready. If `BENCH_PROFILE` names
 * a folder, the CPU profile is written there at the end.
 */
export async function startServer(module: URL): Promise<ServerProcess> {
  const profile = process.env['BENCH_PROFILE'] ?? ''
  const reporting = new URL('./serving.js', import.meta.url).href
  const child = fork(fileURLToPath(module), [], {
    execArgv: [
      `--import=${reporting}`,
      ...(profile === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`, '--cpu-prof-interval=200']),
    ],
    env: { ...process.env, NODE_ENV: 'production', BENCH_DATABASE_URL: benchUrl() },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const { ports } = await reply<ServerReport>(child)
  const ask = (what: 'cpu' | 'rss') => {
    child.send(what)
    return reply<number>(child)
  }
  return {
    ports,
    cpuUs: () => ask('cpu'),
    rss: () => ask('rss'),
    end: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.disconnect()
        setTimeout(() => child.kill('SIGKILL'), 5000).unref()
      }),
  }
}

function reply<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new TypeError(`the server ended early (${code})`))
    child.once('exit', ended)
    child.once('message', (message: T) => {
      child.off('exit', ended)
      resolve(message)
    })
  })
}
