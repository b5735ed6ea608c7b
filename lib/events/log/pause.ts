import { setTimeout as wait } from 'node:timers/promises'

/** Waits for a time in milliseconds, or until the signal aborts or `early` resolves. */
export async function pause(ms: number, signal: AbortSignal, early?: Promise<void>): Promise<void> {
  const over = new AbortController()
  const end = () => over.abort()
  signal.addEventListener('abort', end, { once: true })
  void early?.then(end)
  if (!signal.aborted) await wait(ms, undefined, { signal: over.signal }).catch(() => {})
  signal.removeEventListener('abort', end)
}
