import { randomBytes } from 'node:crypto'

/**
 * Returns a unique string of letters and digits. If it occurs in output, it shows where that output came
 * from.
 */
export const newCanary = (kind: string): string => `${kind}${randomBytes(8).toString('hex')}`

/** Strings to search for, in every form in which they might leak. */
export class Canaries {
  readonly #forms = new Map<string, string>()

  plant(text: string): string {
    for (const form of formsOf(text)) this.#forms.set(form, text)
    return text
  }

  /** Returns true if a string contains one of the canaries. */
  isIn(text: string): boolean {
    for (const form of this.#forms.keys()) if (text.includes(form)) return true
    return false
  }
}

/**
 * Returns a string unchanged, in lower case, in hexadecimal, and in Base64 at any offset of a longer value.
 */
const formsOf = (text: string): readonly string[] => [
  ...new Set([text, text.toLowerCase(), Buffer.from(text).toString('hex'), ...[0, 1, 2].map(base64At(text))]),
]

/** Returns the part of the Base64 form that does not depend on the surrounding bytes. */
const base64At =
  (text: string) =>
  (before: number): string => {
    const encoded = Buffer.from('\0'.repeat(before) + text)
      .toString('base64')
      .replace(/=+$/, '')
    const from = [0, 2, 3][before] ?? 0
    return encoded.slice(from, encoded.length - 1)
  }
