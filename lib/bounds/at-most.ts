import { Unavailable } from '../errors.js'
import { abortError } from './abort-error.js'

/**
 * Returns a function that runs tasks in order of arrival, at most `limit` at a time. A task whose signal
 * aborts while it waits never starts. If `longest` other tasks already wait, a task rejects with Unavailable.
 * @param tooMany - the message of that error.
 */
export function atMost(
  limit: number,
  tooMany = 'too many calls wait for this: retry later',
): <T>(task: () => Promise<T>, signal?: AbortSignal, longest?: number) => Promise<T> {
  const waiting = new Set<() => void>()
  let running = 0

  const turn = (signal: AbortSignal | undefined, longest: number) =>
    new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        waiting.delete(enter)
        reject(abortError(signal))
      }
      const enter = (): void => {
        waiting.delete(enter)
        signal?.removeEventListener('abort', leave)
        running++
        resolve()
      }
      if (signal?.aborted) return leave()
      if (running < limit) return enter()
      if (waiting.size >= longest) return reject(new Unavailable(tooMany))
      waiting.add(enter)
      signal?.addEventListener('abort', leave, { once: true })
    })

  return async (task, signal, longest = Number.POSITIVE_INFINITY) => {
    await turn(signal, longest)
    try {
      return await task()
    } finally {
      running--
      for (const enter of waiting) {
        enter()
        break
      }
    }
  }
}
