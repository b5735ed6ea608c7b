import { readFileSync } from 'node:fs'

/** A tick of `/proc`, whatever the kernel's own are. */
const TICK_MS = 10

/**
 * Processor time that this process has used, in milliseconds, and on Linux that of its children that have
 * ended.
 */
export function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 + childrenMs()
}

function childrenMs(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1')
    // The second field is the name of the program, in parentheses; user and system time of children are 16
    // and 17.
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
