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

/** An invalid value, and the valid one that was probably intended: `"INDEX"; did you mean INDEXED?`. */
export const wrongValue = (value: unknown, valid: readonly unknown[]): string =>
  `${shownValue(value)}${didYouMean(typeof value === 'string' ? value : '', valid.map(String))}`
