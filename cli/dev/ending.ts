/**
 * The time in milliseconds that a service may take to stop before it is killed, because its successor waits
 * for it.
 */
export const LONGEST_STOP_MS = 1_500

/** Ends the process when its parent has ended, even if the parent was killed. */
function endWithParent(longestStopMs: number): void {
  process.once('disconnect', () => {
    process.kill(process.pid, 'SIGTERM')
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), longestStopMs)
  })
  // Lets a process without further work end by itself.
  process.channel?.unref()
}

/**
 * A module for `--import` in a process with an `ipc` channel. It is a data URL, because a bundle contains no
 * file for it.
 */
export const ENDS_WITH_PARENT = `data:text/javascript,${encodeURIComponent(`(${endWithParent.toString()})(${LONGEST_STOP_MS})`)}`

/**
 * Runs a command until it ends, this process receives a signal, or the parent ends. Then all processes of the
 * command are killed.
 */
function endGroupWithParent(): void {
  // Evaluated code has no imports.
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
      // The command has ended by itself.
    }
    process.exit(1)
  }
  for (const event of ['disconnect', 'SIGINT', 'SIGTERM', 'SIGHUP']) process.once(event, end)
  child.once('error', end)
  child.once('exit', (status) => process.exit(status ?? 1))
}

/** A script for `node --eval` in a process with an `ipc` channel. The command follows after `--`. */
export const ENDS_GROUP_WITH_PARENT = `(${endGroupWithParent.toString()})()`
