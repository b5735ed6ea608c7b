import { type DescField, type Registry, ScalarType } from '@bufbuild/protobuf'
import { ResourceExhausted } from '../../errors.js'

/** The limits on the messages of a call. */
export interface MessageLimits {
  /** Maximum size of a response, or of one message of a stream, in bytes. */
  readonly maxResponseBytes: number
  /** Maximum number of elements in a request message; see {@link ElementCount}. */
  readonly maxElements: number
  /** The size in bytes up to which a request cannot have too many elements; see {@link uncountedBytes}. */
  readonly uncountedBytes: number
  /**
   * Returns the maximum number of entries that a list or map field declares; undefined if it declares none.
   */
  mostIn(field: DescField): MostEntries | undefined
  /** The types of google.protobuf.Any values, whose elements are counted as well. */
  readonly types?: Registry
}

/** The number of elements up to which a request is decoded without counting. */
const UNCOUNTED = 10_000

/**
 * Returns the size in bytes up to which a request is decoded without counting. Each element has at least two
 * bytes.
 */
export const uncountedBytes = (maxElements: number): number => 2 * Math.min(maxElements, UNCOUNTED)

/** The maximum number of entries in a list or a map. */
export interface MostEntries {
  readonly count: number
  /** The problem of a larger list or map, for the caller. */
  readonly text: string
}

/** No limits, for code that decodes its own messages. */
export const NO_LIMITS: MessageLimits = {
  maxResponseBytes: Number.POSITIVE_INFINITY,
  maxElements: Number.POSITIVE_INFINITY,
  uncountedBytes: uncountedBytes(Number.POSITIVE_INFINITY),
  mostIn: () => undefined,
}

/**
 * Lists and maps are decoded up to this size before their declared maximum is checked. The maximum of a
 * shorter one is checked together with the message's other rules, so that the caller receives all violations
 * at once.
 */
const DECODED_ENTRIES = 1_000

/**
 * Counts the elements of a request message before they are created: messages, strings and bytes in lists, and
 * map entries, including the fields of a Struct. Numbers, booleans and enum values do not count.
 */
export class ElementCount {
  #count = 0

  constructor(readonly limits: MessageLimits) {}

  /** @throws ResourceExhausted if there are more than `maxElements`. */
  add(): void {
    const { maxElements } = this.limits
    if (++this.#count > maxElements)
      throw new ResourceExhausted(
        `the request has more than ${maxElements} messages, strings in lists and map entries (limits.maxElements): send fewer`,
      )
  }

  /**
   * Returns the reason why a list or map with so many entries is rejected before decoding; undefined if it is
   * accepted.
   */
  excess(field: DescField, entries: number): string | undefined {
    if (entries <= DECODED_ENTRIES) return undefined
    const most = this.limits.mostIn(field)
    return most !== undefined && entries > most.count ? most.text : undefined
  }
}

/**
 * Returns true if each value of the field counts as an element: a message, a map entry, or a string or bytes
 * in a list.
 */
export const isElement = (field: DescField): boolean =>
  field.fieldKind === 'map' ||
  field.message !== undefined ||
  (field.fieldKind === 'list' && (field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES))
