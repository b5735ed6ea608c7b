/** The reason why it is unknown whether a database responds or accepts writes. */
export interface DatabaseDoubt {
  /** Logged if calls received less detail. Not repeated within a minute. */
  readonly report?: { readonly message: string; readonly error: Error }
}

const listeners = new Set<(doubt: DatabaseDoubt) => void>()

/**
 * Registers a listener for the first failure of a database of this process, so that a server does not have to
 * wait for its next probe.
 *
 * @returns a function that removes the listener.
 */
export function onDatabaseDoubt(listener: (doubt: DatabaseDoubt) => void): () => void {
  const own = (doubt: DatabaseDoubt) => listener(doubt)
  listeners.add(own)
  return () => void listeners.delete(own)
}

export function tellDatabaseDoubt(doubt: DatabaseDoubt): void {
  for (const listener of listeners) listener(doubt)
}
