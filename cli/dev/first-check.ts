import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../../lib/files/package-file.js'
import type { ProjectCheck } from '../check/project-check.js'
import { EXIT_CODES } from '../errors/exit-codes.js'

/**
 * Returns the result of `ashlar check` in a project, or undefined if there is nothing to check. It runs in a
 * separate process, because a loaded module is not loaded again after a change.
 */
export function firstCheck(folder: string, signal: AbortSignal): Promise<ProjectCheck | undefined> {
  const child = spawn(process.execPath, [fileURLToPath(packageFile('bin/ashlar.js')), 'check', '--json'], {
    cwd: folder,
    env: { ...process.env, NODE_ENV: process.env.NODE_ENV ?? 'development' },
    stdio: ['ignore', 'pipe', 'ignore'],
    signal,
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  return new Promise((resolve) => {
    child.once('error', () => resolve(undefined))
    child.once('close', (exit) =>
      resolve(
        exit === EXIT_CODES.done || exit === EXIT_CODES.differs
          ? (JSON.parse(printed) as ProjectCheck)
          : undefined,
      ),
    )
  })
}
