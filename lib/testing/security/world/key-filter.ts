import type { Filter } from '../../../persistence/index.js'
import { literalOf } from './made-up-keys.js'
import type { Subject } from './subjects.js'

/** Returns a filter for the rows with one of the keys. */
export const oneOf = (subject: Subject, keys: readonly string[]): Filter =>
  `(${keys.map((one) => `(${isKey(subject, one)})`).join(' OR ')})` as Filter

/** Returns a filter for one key. The parts of a name are stored separately. */
const isKey = ({ key, name, repository }: Subject, one: string): string => {
  const parts = name?.variables.map(({ field }) => field) ?? [repository?.model.key]
  const values = name === undefined ? [one] : (name.parse(one) ?? [])
  return parts
    .map((part, i) => `${part?.proto ?? key.name} = ${literalOf(part, values[i] ?? '')}`)
    .join(' AND ')
}
