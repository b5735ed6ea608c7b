import { InvalidArgument } from '../../errors.js'
import type { Values } from './new-entity.js'
import type { ResourceKeys } from '../../resource/keys/resource-keys.js'
import { MAX_BATCH } from './repository.js'

/** The maximum number of items in a batch, and the message for more. */
export const MAX_IN_BATCH = {
  count: MAX_BATCH,
  text: `has more than ${MAX_BATCH} entries: a batch holds at most ${MAX_BATCH}`,
}

/**
 * Checks the keys of a batch.
 * @param field - the request's list, for the error.
 * @throws InvalidArgument if there are too many keys, or a key that may be written only once occurs twice.
 */
export function checkBatch(
  keys: readonly string[],
  field: string,
  { unique }: { readonly unique: boolean },
): void {
  if (keys.length > MAX_BATCH) throw new InvalidArgument(field, MAX_IN_BATCH.text)
  if (!unique) return
  const seen = new Set<string>()
  for (const key of keys) {
    if (seen.has(key)) throw new InvalidArgument(field, `names the key ${JSON.stringify(key)} twice`)
    seen.add(key)
  }
}

/** An item of a batch update with the values to write. */
export interface Patched {
  readonly key: string
  readonly patch: Values
  readonly index: number
  readonly ifMatch: string | undefined
}

/** Returns true if no item has an etag, so that one statement can write all items. */
export const isUnconditional = (patches: readonly Patched[]): boolean =>
  patches.every(({ ifMatch }) => ifMatch === undefined)

/**
 * Sorts the items of a batch in the order in which every backend writes them. A fixed order prevents
 * deadlocks between two batches. It also makes backends agree on whether a unique value that one item gives
 * up and another takes over conflicts.
 */
export const inKeyOrder = <T extends { readonly key: string }>(
  items: readonly T[],
  { compare }: ResourceKeys,
): T[] => [...items].sort((a, b) => compare(a.key, b.key))

/** Returns a key as a string. A key that no row can have is returned unchanged and matches no row. */
export const textOf = ({ given }: ResourceKeys, key: unknown): string =>
  given(key) ?? (typeof key === 'string' ? key : NO_KEY)

const NO_KEY = '\0'
