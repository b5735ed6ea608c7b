import type { DescEnum } from '@bufbuild/protobuf'
import type { ColumnOptions } from 'typeorm'
import { EnumLabels } from './enum-labels.js'

/** Numbers and proto names of an enum, both ways. */
export interface EnumNames {
  readonly nameOf: ReadonlyMap<number, string>
  readonly numberOf: ReadonlyMap<string, number>
  /** The labels in the column. Undefined if it contains the names. */
  readonly labels?: EnumLabels
}

/** The type of a column that an engine has for one enum. */
export interface EnumType {
  readonly schema: string | undefined
  readonly name: string
}

/** The labels that a property's declaration states for its enum. */
export interface EnumSource {
  /** Of `@Column()`. */
  readonly declared: ColumnOptions['enum']
  /** Of `@EnumLabels()`: the label of each value of the message's enum. */
  readonly stated: Readonly<Record<string, string>> | undefined
  /** Undefined for a text column. */
  readonly type: EnumType | undefined
  /** The class of the property. */
  readonly designType: unknown
}

const known = new WeakMap<DescEnum, EnumNames>()

/** Names and numbers of an enum; of two names for one number the first is stored. */
export function enumNamesOf(desc: DescEnum, source?: EnumSource): EnumNames {
  let names = known.get(desc)
  if (names === undefined) {
    const nameOf = new Map<number, string>()
    for (const value of desc.values) if (!nameOf.has(value.number)) nameOf.set(value.number, value.name)
    names = { nameOf, numberOf: new Map(desc.values.map((value) => [value.name, value.number])) }
    known.set(desc, names)
  }
  const labels = source && EnumLabels.of(desc, source)
  return labels === undefined ? names : { ...names, labels }
}

/** Names and numbers of a column's labels if the message has no enum of them. */
export function namesOfColumn(source: Pick<EnumSource, 'declared' | 'type'>): EnumNames {
  const labels = EnumLabels.ofColumn(source)
  return { nameOf: labels.labelOf, numberOf: labels.numberOf, labels }
}

/** The column's value for a number of the enum. */
export const storedName = ({ labels, nameOf }: EnumNames, number: number): string | undefined =>
  (labels?.labelOf ?? nameOf).get(number)
