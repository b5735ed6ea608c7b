import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { FILE_ENDS, type FileResult, NOTHING_RUN, together } from './file-result.js'
import { compiled, root } from '../root.js'

/** The time after its last test in which a process must exit. After that, it is killed and the run fails. */
const LINGERING_MS = 20_000

/**
 * Runs the files from `next` one after another in a child process. Prints the output of each file when it has
 * ended, or immediately if no other process prints. If the process exits in the middle of a file, the file
 * fails and the next one runs in a new process.
 */
export async function runFiles(
  next: () => string | undefined,
  environment: Readonly<NodeJS.ProcessEnv>,
  isAlone: boolean,
): Promise<FileResult> {
  let sum = NOTHING_RUN
  for (let process = new TestProcess(environment, isAlone); ;) {
    const file = next()
    if (file === undefined) return together(sum, await process.end())
    const { result, lives } = await process.run(file)
    sum = together(sum, result)
    if (!lives) process = new TestProcess(environment, isAlone)
  }
}

class TestProcess {
  readonly #child: ChildProcess
  readonly #ended: Promise<string>
  readonly #isAlone: boolean
  #printed: string[] = []
  #fileEnds: (result: FileResult) => void = () => {}

  constructor(env: Readonly<NodeJS.ProcessEnv>, isAlone: boolean) {
    this.#isAlone = isAlone
    this.#child = fork(join(compiled, 'test', 'support', 'running', 'mocha.js'), {
      cwd: root,
      execArgv: ['--enable-source-maps'],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env,
    })
    const printed = [this.#child.stdout!, this.#child.stderr!].map((input) => {
      const lines = createInterface({ input }).on('line', (line) => this.#line(line))
      return once(lines, 'close')
    })
    this.#ended = once(this.#child, 'exit').then(async ([code, signal]) => {
      await Promise.all(printed)
      return String(signal ?? code)
    })
  }

  async run(file: string): Promise<{ readonly result: FileResult; readonly lives: boolean }> {
    const result = new Promise<FileResult>((resolve) => (this.#fileEnds = resolve))
    const title = relative(compiled, file)
    if (this.#isAlone) console.log(title)
    this.#child.send(file)
    const ending = await Promise.race([result, this.#ended])
    this.#print(this.#isAlone ? '' : title)
    if (typeof ending !== 'string') return { result: ending, lives: true }
    const failure = `${title}: the test process ended early (${ending})`
    return { result: { ...NOTHING_RUN, failed: 1, failures: [failure] }, lives: false }
  }

  async end(): Promise<FileResult> {
    this.#child.disconnect()
    const lingering = setTimeout(() => this.#child.kill('SIGKILL'), LINGERING_MS)
    const ending = await this.#ended
    clearTimeout(lingering)
    this.#print('')
    if (ending !== 'SIGKILL') return NOTHING_RUN
    const failure = `the tests left something open that kept their process alive for ${LINGERING_MS / 1000} s`
    return { ...NOTHING_RUN, failed: 1, failures: [failure] }
  }

  #line(line: string): void {
    const end = line.indexOf(FILE_ENDS)
    if (end !== 0) this.#says(end < 0 ? line : line.slice(0, end))
    if (end < 0) return
    this.#fileEnds(JSON.parse(line.slice(end + FILE_ENDS.length)) as FileResult)
  }

  #says(line: string): void {
    if (this.#isAlone) console.log(line)
    else this.#printed.push(line)
  }

  #print(title: string): void {
    const lines = this.#printed.splice(0)
    if (title !== '' || lines.length > 0) console.log([title, ...lines].join('\n'))
  }
}
