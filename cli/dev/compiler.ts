import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { toolEnvironment } from '../proto/project-tool.js'
import { ENDS_WITH_PARENT } from './ending.js'
import { type SourceError, typescriptError } from './source-error.js'

/** What is told of each compilation. */
export interface CompilerEvents {
  readonly started: () => void
  readonly compiled: (errors: readonly SourceError[]) => void
  readonly ended: () => void
}

/** The project's own `tsc --watch`. Its errors are read from what it prints, which is the same in all versions of it. */
export function watchingCompiler(tsc: string, folder: string, events: CompilerEvents): ChildProcess {
  const child = spawn(tsc, ['--watch', '--preserveWatchOutput', '--pretty', 'false'], {
    cwd: folder,
    env: {
      ...toolEnvironment(tsc),
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${ENDS_WITH_PARENT}`,
    },
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
    shell: process.platform === 'win32',
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
