import { Failure } from '../errors/failure.js'
import { nearestNames } from '../../lib/text/nearest-names.js'

/**
 * A mapping of a configuration file, read key by key. Unknown keys are ignored, and a note suggests the
 * nearest valid one. Values of the wrong type are failures with the file and the field.
 */
export class Section {
  readonly #fields: Readonly<Record<string, unknown>>
  readonly #file: string
  readonly #path: string
  readonly #unknown: readonly string[]
  readonly #notes: string[]

  constructor(value: unknown, at: { file: string; path: string; notes: string[] }, known: readonly string[]) {
    this.#file = at.file
    this.#path = at.path
    this.#notes = at.notes
    const what = at.path === '' ? 'the document' : at.path
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new Failure('input', `${at.file}: ${what} is not a mapping of keys to values`)
    this.#fields = value as Readonly<Record<string, unknown>>
    this.#unknown = Object.keys(value).filter((key) => !known.includes(key))
    for (const key of this.#unknown) {
      const [meant] = nearestNames(key, known)
      const advice = meant === undefined ? `valid keys are ${known.join(', ')}` : `did you mean ${meant}?`
      at.notes.push(`${this.where(key)} is an unknown key and is ignored: ${advice}`)
    }
  }

  /** Returns the file and the field for a message. */
  where(key: string): string {
    return `${this.#file}: ${this.#at(key)}`
  }

  /** Returns the string under the key; empty if it is missing or null. */
  text(key: string): string {
    const value = this.#value(key)
    if (value === undefined) return ''
    if (typeof value === 'string') return value.toWellFormed()
    throw new Failure('input', `${this.where(key)} is not a string: put it in quotes`)
  }

  /**
   * Returns the string under the key.
   * @throws Failure if it is missing, with the misspelt key if there is one.
   */
  required(key: string): string {
    const text = this.text(key)
    if (text !== '') return text
    const [typo] = nearestNames(key, this.#unknown)
    throw new Failure(
      'input',
      `${this.where(key)} is missing${typo === undefined ? '' : ` (there is "${typo}")`}: add it`,
    )
  }

  /** Returns the mapping under the key; undefined if it is missing or null. */
  section(key: string, known: readonly string[]): Section | undefined {
    const value = this.#value(key)
    if (value === undefined) return undefined
    return new Section(value, { file: this.#file, path: this.#at(key), notes: this.#notes }, known)
  }

  /** Returns the mappings in the list under the key; undefined if it is missing or null. */
  sections(key: string, known: readonly string[]): readonly Section[] | undefined {
    const value = this.#value(key)
    if (value === undefined) return undefined
    if (!Array.isArray(value))
      throw new Failure('input', `${this.where(key)} is not a list: begin each entry with "- "`)
    return value.map(
      (entry, index) =>
        new Section(
          entry,
          { file: this.#file, path: `${this.#at(key)}[${index}]`, notes: this.#notes },
          known,
        ),
    )
  }

  #value(key: string): unknown {
    return Object.hasOwn(this.#fields, key) ? (this.#fields[key] ?? undefined) : undefined
  }

  #at(key: string): string {
    return this.#path === '' ? key : `${this.#path}.${key}`
  }
}
