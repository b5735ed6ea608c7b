import { didYouMean } from './nearest-names.js'
import { printable } from './printable.js'

/** Formats a value of any kind for a message: a string in quotes, or the kind of a longer value. */
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
 * Formats an invalid value with the valid value that was probably intended: `"INDEX"; did you mean INDEXED?`.
 */
export const wrongValue = (value: unknown, valid: readonly unknown[]): string =>
  `${shownValue(value)}${didYouMean(typeof value === 'string' ? value : '', valid.map(String))}`
