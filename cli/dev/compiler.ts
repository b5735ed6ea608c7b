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
 * Starts the project's own `tsc --watch`. Its errors are parsed from its output, whose format is the same in
 * all versions. In TypeScript 7 the compiler is a program that a Node script starts, so a process in between
 * ends both.
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
