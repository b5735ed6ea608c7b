import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

const BIN = fileURLToPath(new URL('../../../bin/ashlar-idp.js', import.meta.url))

/** The exit of a program. */
export interface Ended {
  readonly exit: number | null
  readonly stdout: string
  readonly stderr: string
}

/** `ashlar-idp` in a process of its own. */
export interface Program {
  readonly child: ChildProcess
  /** Resolves with the match when the program has printed it. @throws Error when it ends before. */
  readonly printed: (wanted: RegExp) => Promise<RegExpExecArray>
  readonly ended: Promise<Ended>
  /** Asks it to end, as Ctrl-C does. */
  readonly stop: () => Promise<Ended>
}

export interface Surroundings {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/** Starts it with the environment of the test, without variables that are its own. */
export function start(args: readonly string[], { cwd, env = {} }: Surroundings): Program {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(ASHLAR_IDP|DEVEDGE)_/.test(name))
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const text = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (part: string) => {
      text[name] += part
      waiting.forEach((look) => look())
    })
  const ended = new Promise<Ended>((resolve) => child.on('close', (exit) => resolve({ exit, ...text })))
  return {
    child,
    ended,
    printed: (wanted) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = wanted.exec(text.stdout)
          if (match === null) return
          waiting.delete(look)
          resolve(match)
        }
        waiting.add(look)
        look()
        void ended.then(({ exit, stderr }) =>
          reject(new Error(`it ended with ${exit} before it printed ${String(wanted)}: ${stderr}`)),
        )
      }),
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

/** A free port. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
