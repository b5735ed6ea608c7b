import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SILENT_ADDRESS } from './servers/route-daemon.js'
import { compiled, root } from './root.js'

/** The result of a command that has exited. */
export interface Ran {
  readonly exit: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** The folder of the installed package that has the program. Default: the package under test. */
  readonly from?: string
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** A command line to run the program with: `['sh', '-c', 'ulimit -f 0; exec "$@"', 'sh']`. */
  readonly under?: readonly string[]
  readonly uid?: number
  /** The text to type when the program has printed `after`. Without it, stdin is empty. */
  readonly input?: { readonly text: string; readonly after: string }
  /** Called with the process when it has started. */
  readonly started?: (child: ChildProcess) => void
}

/**
 * Runs `ashlar` or `idp` from bin/ in a child process that has no terminal and cannot reach a real daemon.
 */
export function runCli(
  program: 'ashlar' | 'idp',
  args: readonly string[],
  { from = installed(), cwd = tmpdir(), env = {}, under = [], uid, input, started }: RunOptions = {},
): Promise<Ran> {
  const [command = '', ...rest] = [...under, process.execPath, join(from, `bin/${program}.js`), ...args]
  const child = spawn(command, rest, {
    cwd,
    env: { ...bareEnvironment(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  })
  started?.(child)
  // The program may exit before it has read all of its input.
  child.stdin.on('error', () => undefined)
  if (input === undefined) child.stdin.end()
  let stdout = ''
  let stderr = ''
  let unsaid = input
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    if (unsaid === undefined || !stdout.includes(unsaid.after)) return
    child.stdin.write(unsaid.text)
    unsaid = undefined
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (exit) => resolve({ exit, stdout, stderr }))
  })
}

let installation: string | undefined

/** Returns the folder `bin` next to the code under test, wherever it is compiled to. */
export function installed(): string {
  if (installation !== undefined) return installation
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-cli-'))
  chmodSync(folder, 0o755)
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  symlinkSync(compiled, join(folder, 'dist'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  installation = folder
  return folder
}

export function bareEnvironment(): NodeJS.ProcessEnv {
  const { PATH, NODE_V8_COVERAGE } = process.env
  return {
    PATH,
    HOME: join(tmpdir(), 'ashlar-nobody'),
    DEVEDGE_ADDR: SILENT_ADDRESS,
    ...(NODE_V8_COVERAGE !== undefined && { NODE_V8_COVERAGE }),
  }
}
