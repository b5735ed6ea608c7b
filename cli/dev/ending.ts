/** The time a service may take to stop before it is killed, because its successor waits for it. */
export const LONGEST_STOP_MS = 1_500

/** Ends the process when the one that started it is gone, also where that was killed. */
function endWithParent(longestStopMs: number): void {
  process.once('disconnect', () => {
    process.kill(process.pid, 'SIGTERM')
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), longestStopMs)
  })
  // A process that has nothing left to do ends by itself.
  process.channel?.unref()
}

/**
 * A module for `--import` in a process with the channel `ipc`. It is its own text, because a bundle has no
 * file of it.
 */
export const ENDS_WITH_PARENT = `data:text/javascript,${encodeURIComponent(`(${endWithParent.toString()})(${LONGEST_STOP_MS})`)}`

/**
 * Runs a command until it ends, or until this process gets a signal or its parent is gone: then all
 * processes of the command are killed.
 */
function endGroupWithParent(): void {
  // Evaluated text has no imports.
  const { spawn } = process.getBuiltinModule('node:child_process')
  const isWindows = process.platform === 'win32'
  const [program = '', ...args] = process.argv.slice(1)
  const child = spawn(program, args, {
    stdio: ['pipe', 'inherit', 'inherit'],
    detached: !isWindows,
    shell: isWindows,
  })
  const end = () => {
    try {
      if (child.pid !== undefined && !isWindows) process.kill(-child.pid, 'SIGKILL')
      else child.kill()
    } catch {
      // It has ended by itself.
    }
    process.exit(1)
  }
  for (const event of ['disconnect', 'SIGINT', 'SIGTERM', 'SIGHUP']) process.once(event, end)
  child.once('error', end)
  child.once('exit', (status) => process.exit(status ?? 1))
}

/** A script for `node --eval` in a process with the channel `ipc`; the command follows behind `--`. */
export const ENDS_GROUP_WITH_PARENT = `(${endGroupWithParent.toString()})()`
