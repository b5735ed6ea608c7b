import { randomInt, randomUUID } from 'node:crypto'
import type { NamePattern } from '../../../persistence/index.js'
import { keyPartOf } from '../../../resource/keys/key-part.js'
import { kindOf } from '../../../resource/kinds/kinds.js'
import { newCanary } from '../leaks/canary.js'

type Field = NamePattern['variables'][number]['field']

/** Makes texts of one form, each another one. @param kind - begins it where any text will do. */
export type NewText = (kind: string) => string

/** Numbers in their order from a random one, so that two of a small range differ. */
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

/** Strings of the first form that fits, or of any form. @param kind - the longest prefix. */
export const newTextThat = (fits: (text: string) => boolean, kind = 'check-'): NewText =>
  FORMS.find((make) => fits(make(kind))) ?? newCanary

/** The keys of the parents that the check creates, in both tenants. */
const PARENTS = ['check', '00000000-0000-4000-8000-000000000007', '7', '2030-01-01', 'c']

/** The key of the parent that all resources of the check are in. @param field - holds it. */
export const parentText = (field: Field | undefined): string =>
  PARENTS.find((text) => fitsIn(field, text)) ?? 'check'

/** True if a repository generates no key, so that the caller chooses it. */
export const isChosen = (field: Field): boolean => kindOf(field).key?.takesUuid(field) === false

/** A key as a filter has it, of what the field's property holds. */
export const literalOf = (field: Field | undefined, text: string): string => {
  const value = field && kindOf(field).key !== undefined ? keyPartOf(field).valueOf(text) : text
  return typeof value === 'number' || typeof value === 'bigint' ? text : JSON.stringify(text)
}

/** True if a row can have the text there, which is a key or refers to one. */
export const fitsIn = (field: Field | undefined, text: string): boolean =>
  field === undefined ||
  kindOf(field).key === undefined ||
  (keyPartOf(field).valueOf(text) !== undefined &&
    kindOf(field).isForeign?.(text) !== true &&
    text.length <= (field.maxLength ?? Infinity))

/** A text with another in the place of a key. A number is none in the middle of another. */
export const withoutKey = (text: string, key: string, other: string): string => {
  if (!/\d$/.test(key)) return text.replaceAll(key, () => other)
  const escaped = key.replaceAll(/[^\w/-]/g, '\\$&')
  const [before, after] = /^\d+$/.test(key) ? ['(?<![\\w.-])', '(?![\\w-]|\\.\\d)'] : ['', '(?!\\d)']
  return text.replaceAll(new RegExp(before + escaped + after, 'g'), () => other)
}
