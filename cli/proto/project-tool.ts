import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { Failure } from '../errors/failure.js'

/** The output and the exit status of a program. */
export interface ToolResult {
  readonly exit: number
  readonly stdout: Buffer
  readonly stderr: string
}

/**
 * Returns the path of a development dependency's program in the `node_modules/.bin` of the folder or of a
 * parent folder.
 * @throws {Failure} if it is not installed.
 */
export function toolOf(folder: string, name: string, npmPackage: string): string {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, 'node_modules', '.bin', name)
    if (existsSync(path)) return path
    if (dirname(at) === at)
      throw new Failure(
        'input',
        `${name} is not installed: run npm install, or npm install --save-dev ${npmPackage}`,
      )
  }
}

/** Returns the environment for tools that call other tools, as in npm scripts. */
export const toolEnvironment = (tool: string): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: `${dirname(tool)}${delimiter}${process.env.PATH ?? ''}`,
})

/** Runs a program of the project and waits for its end. */
export function runTool(tool: string, args: readonly string[], folder: string): Promise<ToolResult> {
  const child = spawn(tool, args, {
    cwd: folder,
    env: toolEnvironment(tool),
    stdio: ['ignore', 'pipe', 'pipe'],
    // On Windows the program is a script.
    shell: process.platform === 'win32',
  })
  const stdout: Buffer[] = []
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exit) => resolve({ exit: exit ?? 1, stdout: Buffer.concat(stdout), stderr }))
  })
}
