import { randomBytes } from 'node:crypto'

/** Text that nobody else writes, so that seeing it says where it came from. Letters and digits only. */
export const newCanary = (kind: string): string => `${kind}${randomBytes(8).toString('hex')}`

/** Texts to look for, in every form in which they might come out. */
export class Canaries {
  readonly #forms = new Map<string, string>()

  plant(text: string): string {
    for (const form of formsOf(text)) this.#forms.set(form, text)
    return text
  }

  /** Whether one of them is in a text. */
  isIn(text: string): boolean {
    for (const form of this.#forms.keys()) if (text.includes(form)) return true
    return false
  }
}

/** As it is, in lower case, in hexadecimal, and in Base64 wherever in a longer value it may stand. */
const formsOf = (text: string): readonly string[] => [
  ...new Set([text, text.toLowerCase(), Buffer.from(text).toString('hex'), ...[0, 1, 2].map(base64At(text))]),
]

/** The part of the Base64 that does not depend on what stands before and behind. */
const base64At =
  (text: string) =>
  (before: number): string => {
    const encoded = Buffer.from('\0'.repeat(before) + text)
      .toString('base64')
      .replace(/=+$/, '')
    const from = [0, 2, 3][before] ?? 0
    return encoded.slice(from, encoded.length - 1)
  }
