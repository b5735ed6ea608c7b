import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { toolEnvironment } from '../proto/project-tool.js'
import { ENDS_GROUP_WITH_PARENT } from './ending.js'
import { type SourceError, typescriptError } from './source-error.js'

/** The events of each compilation. */
export interface CompilerEvents {
  readonly started: () => void
  readonly compiled: (errors: readonly SourceError[]) => void
  readonly ended: () => void
}

/**
 * The project's own `tsc --watch`. Its errors are read from what it prints, which is the same in all versions
 * of it. That of TypeScript 7 is a program that a script of Node starts, so a process between ends both.
 */
export function watchingCompiler(tsc: string, folder: string, events: CompilerEvents): ChildProcess {
  const command = [tsc, '--watch', '--preserveWatchOutput', '--pretty', 'false']
  const child = spawn(process.execPath, ['--eval', ENDS_GROUP_WITH_PARENT, '--', ...command], {
    cwd: folder,
    env: toolEnvironment(tsc),
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
  })
  let errors: SourceError[] = []
  createInterface({ input: child.stdout as Readable }).on('line', (line) => {
    const error = typescriptError(line)
    if (error !== undefined) errors.push(error)
    else if (/\bStarting (incremental )?compilation\b/.test(line)) events.started()
    else if (/\bFound \d+ errors?\. Watching for file changes\./.test(line)) {
      events.compiled(errors)
      errors = []
    } else if (/^error TS\d+: /.test(line)) {
      errors.push({ path: 'tsconfig.json', line: 1, column: 1, message: line.slice('error '.length) })
    } else if (line.startsWith('  ')) {
      const last = errors.pop()
      if (last !== undefined) errors.push({ ...last, message: `${last.message} ${line.trim()}` })
    }
  })
  child.once('close', events.ended)
  return child
}
