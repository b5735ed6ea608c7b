import { readFileSync } from 'node:fs'

/** The duration of a tick in `/proc`, which does not depend on the kernel's own tick. */
const TICK_MS = 10

/**
 * Returns the processor time of this process in milliseconds. On Linux, it includes the child processes that
 * have ended.
 */
export function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 + childrenMs()
}

function childrenMs(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1')
    // The second field is the program name in parentheses. Fields 16 and 17 are the user and system time of
    // child processes.
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(13, 15)
      .map(Number)
    return ((user ?? 0) + (system ?? 0)) * TICK_MS
  } catch {
    return 0
  }
}
