import { didYouMean } from './nearest-names.js'
import { printable } from './printable.js'

/** A value of any kind, for a message: a text in quotes, the kind of what is longer. */
export const shownValue = (value: unknown): string =>
  typeof value === 'string'
    ? JSON.stringify(printable(value))
    : typeof value === 'object' && value !== null
      ? Array.isArray(value)
        ? 'a list'
        : 'an object'
      : typeof value === 'function'
        ? 'a function'
        : printable(String(value))

/**
 * A value that is none of those that are valid, and which one was probably meant:
 * `"INDEX"; did you mean INDEXED?`.
 */
export const wrongValue = (value: unknown, valid: readonly unknown[]): string =>
  `${shownValue(value)}${didYouMean(typeof value === 'string' ? value : '', valid.map(String))}`
