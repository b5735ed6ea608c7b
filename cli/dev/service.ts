import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { ENDS_WITH_PARENT, LONGEST_STOP_MS } from './ending.js'
import { SENDS_PROBLEMS, startProblemsIn, type StartProblems } from './start-problems.js'

export interface ServiceEvents {
  /** Called when the service listens, with its HTTP address. */
  readonly ready: (address: string | undefined) => void
  /** Called if the service cannot start, with the problems that it reports. */
  readonly refused: (problems: StartProblems) => void
  /** Called when the service has ended by itself. */
  readonly ended: (exit: number | null, signal: NodeJS.Signals | null) => void
}

/** Runs the service as a process that can be restarted. */
export class Service {
  #child: ChildProcess | undefined

  constructor(
    private readonly folder: string,
    private readonly entry: string,
    private readonly events: ServiceEvents,
  ) {}

  /** Ends the running process and starts another one when its ports are free. */
  async restart(): Promise<void> {
    await this.stop()
    const child = spawn(
      process.execPath,
      ['--enable-source-maps', '--import', ENDS_WITH_PARENT, '--import', SENDS_PROBLEMS, this.entry],
      {
        cwd: this.folder,
        env: { ...process.env, NODE_ENV: process.env.NODE_ENV ?? 'development' },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      },
    )
    this.#child = child
    child.on('message', (message) => {
      if (this.#child !== child) return
      const problems = startProblemsIn(message)
      if (problems !== undefined) this.events.refused(problems)
      const ready = typeof message === 'string' ? /^ready(?: (\S+))?$/.exec(message) : null
      if (ready !== null) this.events.ready(ready[1])
    })
    child.once('exit', (exit, signal) => {
      if (this.#child !== child) return
      this.#child = undefined
      this.events.ended(exit, signal)
    })
  }

  async stop(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), LONGEST_STOP_MS)
    await ended
    clearTimeout(late)
  }
}
