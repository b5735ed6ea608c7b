import { setTimeout as pause } from 'node:timers/promises'

/**
 * Waits until a condition is true. The time limit is there so that the error names the condition before the
 * test times out.
 */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  withinMs = 100_000,
  everyMs = 10,
): Promise<void> {
  for (const end = Date.now() + withinMs; !(await isSo());) {
    if (Date.now() > end) throw new TypeError(`it was not so within ${withinMs} ms: ${isSo.toString()}`)
    await pause(everyMs)
  }
}
