import type { Operation, Side } from './subject.js'

/** The result of one slice of time. */
export interface Slice {
  readonly perSecond: number
  readonly p50Us: number
  readonly p99Us: number
  /**
   * CPU time per operation in microseconds: of all threads of the side's process, or of the server under its
   * load.
   */
  readonly cpuUs: number
}

/**
 * Fast operations are timed in groups of about this length, so that reading the clock does not distort the
 * result.
 */
const SAMPLE_MS = 0.05

/**
 * Runs `operation` for `ms` milliseconds with `concurrency` callers. Each starts a new call when its last one
 * has ended.
 */
export async function slice(
  side: Side,
  operation: Operation,
  concurrency: number,
  ms: number,
): Promise<Slice> {
  const group = await groupOf(operation)
  const samples: number[] = []
  const cpuUs = side.serverCpuUs ?? ownCpuUs
  const cpuBefore = await cpuUs()
  const start = performance.now()
  const end = start + ms
  const caller = async () => {
    for (let before = performance.now(); before < end;) {
      for (let i = 0; i < group; i++) {
        const pending = operation()
        if (pending !== undefined) await pending
      }
      const after = performance.now()
      samples.push((after - before) / group)
      before = after
    }
  }
  await Promise.all(Array.from({ length: concurrency }, caller))
  const wall = performance.now() - start
  const cpu = (await cpuUs()) - cpuBefore
  const count = samples.length * group
  samples.sort((a, b) => a - b)
  return {
    perSecond: (count / wall) * 1000,
    p50Us: at(samples, 0.5) * 1000,
    p99Us: at(samples, 0.99) * 1000,
    cpuUs: cpu / count,
  }
}

function ownCpuUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

async function groupOf(operation: Operation): Promise<number> {
  const start = performance.now()
  let count = 0
  while (performance.now() - start < 10 && count < 10_000) {
    const pending = operation()
    if (pending !== undefined) await pending
    count++
  }
  return Math.max(1, Math.floor((SAMPLE_MS * count) / (performance.now() - start)))
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
