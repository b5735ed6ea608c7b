/** How long everything together may take to end by itself. */
const GRACE_MS = 5_000

/** Something that listens. */
export interface Listener {
  /** Stops accepting and resolves when the last call has ended. */
  drain(): Promise<void>
  /** Ends what is left, at once. */
  close(): void
}

/** Drains all listeners at the same time, and closes what is left after 5 seconds. */
export const shutdown = async (listeners: readonly Listener[]): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, GRACE_MS)
  })
  await Promise.race([Promise.all(listeners.map((listener) => listener.drain())), late])
  clearTimeout(timer)
  for (const listener of listeners) listener.close()
}
