import type { DescEnum } from '@bufbuild/protobuf'
import type { ColumnOptions } from 'typeorm'
import { EnumLabels } from './enum-labels.js'

/** Maps numbers of an enum to proto names and back. */
export interface EnumNames {
  readonly nameOf: ReadonlyMap<number, string>
  readonly numberOf: ReadonlyMap<string, number>
  /** The labels in the column; undefined if it contains the names. */
  readonly labels?: EnumLabels
}

/** A database type that belongs to one enum. */
export interface EnumType {
  readonly schema: string | undefined
  readonly name: string
}

/** The declarations from which a property's enum labels are derived. */
export interface EnumSource {
  /** The `enum` option of `@Column()`. */
  readonly declared: ColumnOptions['enum']
  /** The labels in `@EnumLabels()`, by value of the message's enum. */
  readonly stated: Readonly<Record<string, string>> | undefined
  /** Undefined if the column is a text column. */
  readonly type: EnumType | undefined
  /** The class of the property's type. */
  readonly designType: unknown
}

const known = new WeakMap<DescEnum, EnumNames>()

/** Returns the names and numbers of an enum. If a number has two names, the first is stored. */
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

/** Returns names and numbers for the labels of a column whose field is not an enum. */
export function namesOfColumn(source: Pick<EnumSource, 'declared' | 'type'>): EnumNames {
  const labels = EnumLabels.ofColumn(source)
  return { nameOf: labels.labelOf, numberOf: labels.numberOf, labels }
}

/** Returns the column's value for a number of the enum. */
export const storedName = ({ labels, nameOf }: EnumNames, number: number): string | undefined =>
  (labels?.labelOf ?? nameOf).get(number)
