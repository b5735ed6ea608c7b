import { randomInt, randomUUID } from 'node:crypto'
import type { NamePattern } from '../../../persistence/index.js'
import { keyPartOf } from '../../../resource/keys/key-part.js'
import { kindOf } from '../../../resource/kinds/kinds.js'
import { newCanary } from '../leaks/canary.js'

type Field = NamePattern['variables'][number]['field']

/**
 * Returns a new string of a certain format for each call.
 * @param kind - the prefix, if the format allows one.
 */
export type NewText = (kind: string) => string

/** Returns consecutive numbers from a random start, so that two numbers of a small range differ. */
const numbersFrom = (least: number, most: number): (() => number) => {
  let next = randomInt(least, most)
  return () => (next = next + 1 < most ? next + 1 : least)
}

const FEW_LETTERS = 3
const A_DAY_MS = 86_400_000
const [small, day, letters] = [
  numbersFrom(2 ** 14, 2 ** 15),
  numbersFrom(Date.UTC(1800, 0) / A_DAY_MS, Date.UTC(1900, 0) / A_DAY_MS),
  numbersFrom(36 ** (FEW_LETTERS - 1), 36 ** FEW_LETTERS),
]

const FORMS: readonly NewText[] = [
  (kind) => newCanary(kind),
  (kind) => newCanary(kind.slice(-2)).slice(0, 10),
  () => randomUUID(),
  () => String(randomInt(2 ** 30, 2 ** 31 - 1)),
  () => String(small()),
  () => new Date(day() * A_DAY_MS).toISOString().slice(0, 10),
  () => letters().toString(36),
]

/**
 * Returns a generator of strings that `fits` accepts, or of arbitrary strings if no known format fits.
 * @param kind - the prefix, if the format permits one.
 */
export const newTextThat = (fits: (text: string) => boolean, kind = 'check-'): NewText =>
  FORMS.find((make) => fits(make(kind))) ?? newCanary

/** Candidates for the key of the parent that the check creates in both tenants. */
const PARENTS = ['check', '00000000-0000-4000-8000-000000000007', '7', '2030-01-01', 'c']

/**
 * Returns the key of the parent of all the check's resources.
 * @param field - the field that contains it.
 */
export const parentText = (field: Field | undefined): string =>
  PARENTS.find((text) => fitsIn(field, text)) ?? 'check'

/** Returns true if a repository generates no key, so that the caller chooses it. */
export const isChosen = (field: Field): boolean => kindOf(field).key?.takesUuid(field) === false

/** Returns the literal with which a filter compares a key. */
export const literalOf = (field: Field | undefined, text: string): string => {
  const value = field && kindOf(field).key !== undefined ? keyPartOf(field).valueOf(text) : text
  return typeof value === 'number' || typeof value === 'bigint' ? text : JSON.stringify(text)
}

/** Returns true if the field, which is a key or a reference, can contain the string. */
export const fitsIn = (field: Field | undefined, text: string): boolean =>
  field === undefined ||
  kindOf(field).key === undefined ||
  (keyPartOf(field).valueOf(text) !== undefined &&
    kindOf(field).isForeign?.(text) !== true &&
    text.length <= (field.maxLength ?? Infinity))

/** Replaces a key in a text. A number inside a longer number is not a key. */
export const withoutKey = (text: string, key: string, other: string): string => {
  if (!/\d$/.test(key)) return text.replaceAll(key, () => other)
  const escaped = key.replaceAll(/[^\w/-]/g, '\\$&')
  const [before, after] = /^\d+$/.test(key) ? ['(?<![\\w.-])', '(?![\\w-]|\\.\\d)'] : ['', '(?!\\d)']
  return text.replaceAll(new RegExp(before + escaped + after, 'g'), () => other)
}
