import type { DescEnum } from '@bufbuild/protobuf'
import type { EnumNames } from './kind.js'

const known = new WeakMap<DescEnum, EnumNames>()

/** Names and numbers of an enum; of two names for one number the first is stored. */
export function enumNamesOf(desc: DescEnum): EnumNames {
  let names = known.get(desc)
  if (names === undefined) {
    const nameOf = new Map<number, string>()
    for (const value of desc.values) if (!nameOf.has(value.number)) nameOf.set(value.number, value.name)
    names = { nameOf, numberOf: new Map(desc.values.map((value) => [value.name, value.number])) }
    known.set(desc, names)
  }
  return names
}
