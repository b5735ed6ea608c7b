import { type DescField, type Registry, ScalarType } from '@bufbuild/protobuf'
import { ResourceExhausted } from '../../errors.js'

/** The maximum size of one message of a call. */
export interface MessageLimits {
  /** Bytes of a response, or of one message of a stream. */
  readonly maxResponseBytes: number
  /** Elements of a request message: see {@link ElementCount}. */
  readonly maxElements: number
  /** A request of so few bytes cannot have too many elements: see {@link uncountedBytes}. */
  readonly uncountedBytes: number
  /** The maximum of a list or map that its field declares; undefined for none. */
  mostIn(field: DescField): MostEntries | undefined
  /** Finds the types named in a google.protobuf.Any, whose elements count too. */
  readonly types?: Registry
}

/** Elements of a request that is decoded without counting. */
const UNCOUNTED = 10_000

/** Bytes of a request that is decoded without counting: an element has two bytes at least. */
export const uncountedBytes = (maxElements: number): number => 2 * Math.min(maxElements, UNCOUNTED)

/** The number of entries a list or a map has at most. */
export interface MostEntries {
  readonly count: number
  /** The problem of a larger message, for the caller. */
  readonly text: string
}

/** No limits: for code that reads its own messages. */
export const NO_LIMITS: MessageLimits = {
  maxResponseBytes: Number.POSITIVE_INFINITY,
  maxElements: Number.POSITIVE_INFINITY,
  uncountedBytes: uncountedBytes(Number.POSITIVE_INFINITY),
  mostIn: () => undefined,
}

/**
 * So many entries of a list or a map are decoded before its maximum is checked. A shorter one is checked with
 * the other rules of its message, so that the caller receives all violations at once.
 */
const DECODED_ENTRIES = 1_000

/**
 * Counts the elements of a request message before they are made: messages, strings and bytes in lists, and
 * entries of maps, fields of a Struct among them. Numbers, booleans and enum values do not count.
 */
export class ElementCount {
  #count = 0

  constructor(readonly limits: MessageLimits) {}

  /** @throws ResourceExhausted for more than `maxElements`. */
  add(): void {
    const { maxElements } = this.limits
    if (++this.#count > maxElements)
      throw new ResourceExhausted(
        `the request has more than ${maxElements} messages, strings in lists and map entries (limits.maxElements): send fewer`,
      )
  }

  /** Why a list or a map of so many entries is rejected before they are decoded; undefined if it is not. */
  excess(field: DescField, entries: number): string | undefined {
    if (entries <= DECODED_ENTRIES) return undefined
    const most = this.limits.mostIn(field)
    return most !== undefined && entries > most.count ? most.text : undefined
  }
}

/** True if each value of a field is an element: a message, an entry of a map, a string or bytes in a list. */
export const isElement = (field: DescField): boolean =>
  field.fieldKind === 'map' ||
  field.message !== undefined ||
  (field.fieldKind === 'list' && (field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES))
