import type { DescEnum } from '@bufbuild/protobuf'
import { snakeCase } from '../../text/snake-case.js'
import type { EnumSource, EnumType } from './enum-names.js'

/** The part of an enum descriptor with which labels are compared. */
interface Enum extends Pick<DescEnum, 'name'> {
  readonly values: readonly Pick<DescEnum['values'][number], 'name' | 'number'>[]
}

/** A value of an enum declared in code. */
interface Member {
  /** The name in the TypeScript enum, or the label. */
  readonly name: string
  readonly label: string
  /** The number in a numeric enum. */
  readonly number: number | undefined
}

/** Maps the labels of a column to the numbers of the message's enum and back. */
export class EnumLabels {
  readonly labelOf = new Map<number, string>()
  readonly numberOf = new Map<string, number>()
  /** The column's enum type, on an engine that has a type for each enum. */
  readonly type: EnumType | undefined
  /** True if the property contains the message's number instead of the label. */
  readonly isNumber: boolean
  /** The problems of the mapping, with advice. */
  readonly problems: readonly (readonly [text: string, advice: string])[]

  /**
   * Returns the labels that a declaration states. Undefined if it states none; the column then contains the
   * names of the message's enum.
   */
  static of(desc: DescEnum, source: EnumSource): EnumLabels | undefined {
    return source.declared === undefined && source.stated === undefined
      ? undefined
      : new EnumLabels(desc, source)
  }

  /** Returns the labels of a column whose field is not an enum. Each label maps to itself. */
  static ofColumn({ declared, type }: Pick<EnumSource, 'declared' | 'type'>): EnumLabels {
    const members = membersOf(declared)
    const values = members.map(({ name, number }, at) => ({ name, number: number ?? at + 1 }))
    const stated = Object.fromEntries(members.map(({ name, label }) => [name, label]))
    return new EnumLabels({ name: 'the column', values }, { declared, stated, type, designType: undefined })
  }

  private constructor(desc: Enum, { declared, stated = {}, type, designType }: EnumSource) {
    const members = membersOf(declared)
    const problems: (readonly [string, string])[] = []
    const set = (number: number, label: string): void => {
      const other = this.labelOf.get(number)
      if (other !== undefined)
        problems.push([`${quoted(other)} and ${quoted(label)} are both ${nameOf(desc, number)}`, state(desc)])
      this.labelOf.set(number, label)
      this.numberOf.set(label, number)
    }
    const partners = partnersIn(desc)
    for (const [name, label] of Object.entries(stated)) {
      const value = desc.values.find((one) => one.name === name)
      const number = value?.number ?? partners.get(plain(name)) ?? partners.get(plain(label))
      if (number === undefined)
        problems.push([
          `@EnumLabels() names ${name}, which ${desc.name} does not have`,
          `use names of ${desc.name}: ${desc.values.map((one) => one.name).join(', ')}`,
        ])
      else if (declared !== undefined && !members.some((member) => member.label === label))
        problems.push([
          `@EnumLabels() has the label ${quoted(label)}, which the column does not have`,
          'use a value of the enum option',
        ])
      else set(number, label)
    }
    for (const { name, label, number: own } of members) {
      if (this.numberOf.has(label)) continue
      const number = partners.get(plain(label)) ?? partners.get(plain(name))
      if (number === undefined) problems.push([`${quoted(label)} has no value in ${desc.name}`, state(desc)])
      else if (own !== undefined && own !== number)
        problems.push([
          `${name} is ${own}, and ${nameOf(desc, number)} is ${number} in ${desc.name}`,
          'give both the same number',
        ])
      else set(number, label)
    }
    this.type = type
    this.isNumber = designType === Number || members.some(({ number }) => number !== undefined)
    this.problems = problems
  }

  /** Returns the property's value for a number in a message. An unknown number is returned unchanged. */
  fromNumber(number: number): number | string | undefined {
    const label = this.labelOf.get(number)
    if (label !== undefined) return this.isNumber ? number : label
    return number === 0 ? undefined : number
  }

  /** Returns the label of a property's value. */
  labelIn(value: unknown): string | undefined {
    if (typeof value === 'number') return this.isNumber ? this.labelOf.get(value) : undefined
    return !this.isNumber && this.numberOf.has(value as string) ? (value as string) : undefined
  }

  /** Returns the property's value for a label; undefined if the message has no such value. */
  fromLabel(label: string): number | string | undefined {
    const number = this.numberOf.get(label)
    return number === undefined || this.isNumber ? number : label
  }
}

const state = (desc: Enum): string =>
  `state the labels above the property, as in @EnumLabels({ ${desc.values.at(-1)?.name ?? 'NAME'}: 'label' })`

const quoted = (label: string): string => JSON.stringify(label)

const nameOf = ({ values }: Enum, number: number): string =>
  values.find((value) => value.number === number)?.name ?? String(number)

/** Normalizes a name for comparison: case, hyphens, underscores and spaces are ignored. */
const plain = (name: string): string => name.replace(/[-_ ]/g, '').toLowerCase()

/**
 * Returns the values of the message's enum by their names without the enum's prefix. `_UNSPECIFIED` has no
 * label.
 */
function partnersIn(desc: Enum): ReadonlyMap<string, number> {
  const prefix = `${snakeCase(desc.name)}_`.toUpperCase()
  const partners = new Map<string, number>()
  for (const { name, number } of desc.values) {
    if (number === 0 && /(?:^|_)UNSPECIFIED$/.test(name)) continue
    partners.set(plain(name), number)
    if (name.startsWith(prefix)) partners.set(plain(name.slice(prefix.length)), number)
  }
  return partners
}

/** Returns the members in TypeORM's `enum` option: an array of labels or a TypeScript enum. */
function membersOf(declared: EnumSource['declared'] = []): readonly Member[] {
  if (Array.isArray(declared))
    return declared.map((label: unknown) => ({
      name: String(label),
      label: String(label),
      number: undefined,
    }))
  // The object of a numeric enum also maps its numbers to names.
  return Object.entries(declared)
    .filter(([name]) => Number.isNaN(Number(name)))
    .map(([name, value]: [string, unknown]) => ({
      name,
      label: String(value),
      number: typeof value === 'number' ? value : undefined,
    }))
}
