import { InvalidArgument } from '../../errors.js'
import type { Values } from './new-entity.js'
import type { ResourceKeys } from '../../resource/keys/resource-keys.js'
import { MAX_BATCH } from './repository.js'

/** The number of items a batch has at most, and what is wrong with more. */
export const MAX_IN_BATCH = {
  count: MAX_BATCH,
  text: `has more than ${MAX_BATCH} entries: a batch holds at most ${MAX_BATCH}`,
}

/**
 * Checks the keys of a batch.
 * @param field - the request's list, for the error.
 * @throws InvalidArgument when there are too many, or one stands twice where each may be written once.
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

/** One item of a batch update, ready to be written. */
export interface Patched {
  readonly key: string
  readonly patch: Values
  readonly index: number
  readonly ifMatch: string | undefined
}

/** True if no item has an etag to compare, so that one statement may write all items. */
export const isUnconditional = (patches: readonly Patched[]): boolean =>
  patches.every(({ ifMatch }) => ifMatch === undefined)

/**
 * The order in which the items of a batch are written on every backend: two batches never wait for each
 * other, and a unique value that one item leaves and another takes conflicts everywhere or nowhere.
 */
export const inKeyOrder = <T extends { readonly key: string }>(
  items: readonly T[],
  { compare }: ResourceKeys,
): T[] => [...items].sort((a, b) => compare(a.key, b.key))

/** The text of a key as a caller gives it. One that no row has stays as it is, and finds none. */
export const textOf = ({ given }: ResourceKeys, key: unknown): string =>
  given(key) ?? (typeof key === 'string' ? key : NO_KEY)

const NO_KEY = '\0'
