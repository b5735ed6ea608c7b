import { didYouMean } from '../../text/nearest-names.js'
import { type FilterTokens, quoted } from './filter-tokens.js'
import { rulesOf } from './plan-rules.js'
import type { PlanColumn } from './query-plan.js'
import { columnNamed, type NamedFields, type FieldPath, startOf, step } from './related-fields.js'
import { isStorable } from './reachable.js'

/** The maximum number of names in a field's path, from the resource to a field inside its messages. */
const MAX_FILTER_PATH = 8

/** The operand of a filter: a column or a key of a tags column. */
export interface Member {
  readonly place: FieldPath
  readonly name: string
  readonly column: PlanColumn
  readonly key: string | undefined
}

/**
 * Reads the operand of a restriction: `{relation '.'} (relation | member)`. The first word was already read.
 *
 * @returns the operand, without a member if the path ends with a relation.
 * @throws InvalidArgument with the position.
 */
export const readMember = (
  tokens: FilterTokens,
  fields: NamedFields,
  first: string,
  start: number,
): { readonly place: FieldPath; readonly member: Member | undefined } => {
  let place = startOf(fields)
  for (let name = first; ;) {
    const next = step(place, name)
    if (typeof next === 'string')
      return tokens.fail(`${quoted([...place.path, name].join('.'))} ${next}`, start)
    if (next === undefined) return { place, member: memberOf(tokens, place, name, start) }
    place = next
    if (!tokens.is('.')) return { place, member: undefined }
    tokens.next()
    if (!tokens.is('word')) tokens.fail(`expected a name after the dot, found ${tokens.found}`)
    name = tokens.text
    tokens.next()
  }
}

/** Reads `member: word {'.' (word | string)}`. The first word was already read. */
const memberOf = (tokens: FilterTokens, place: FieldPath, first: string, start: number): Member => {
  const { columns } = place.fields
  const named = (name: string) => [...place.path, name].join('.')
  const whole = (name: string) => ({
    place,
    name: named(name),
    column: entered(tokens, columnOf(tokens, place, name, start), start),
    key: undefined,
  })
  if (!tokens.is('.')) return whole(first)

  const path = [first]
  // Read the remaining names, which may be quoted.
  let firstQuoted = Infinity
  while (tokens.is('.')) {
    tokens.next()
    if (!tokens.is('word') && !tokens.is('number') && !tokens.is('string')) {
      tokens.fail(`expected a name after the dot, found ${tokens.found}`)
    }
    if (tokens.is('number') && tokens.text.includes('.')) dottedKey(tokens, first, start)
    if (tokens.is('string')) firstQuoted = Math.min(firstQuoted, path.length)
    path.push(tokens.text)
    tokens.next()
  }
  const name = path.join('.')
  if (!Object.hasOwn(columns, first) || Object.hasOwn(columns, name)) return whole(name)
  const column = columnOf(tokens, place, first, start)
  if (column.json?.shape !== undefined)
    return { place, name: named(name), column: leafOf(tokens, column, path.slice(1), start), key: undefined }
  if (column.members !== undefined)
    return {
      place,
      name: named(name),
      column: insideOf(tokens, column, path, start, firstQuoted),
      key: undefined,
    }
  if (!rulesOf(column).hasKeys) return whole(name)
  const [, key = ''] = path
  if (path.length > 2) return dottedKey(tokens, first, start)
  if (!isStorable(key))
    tokens.fail(`a key of ${quoted(first)} has a NUL character, or half of a surrogate pair`, start)
  return { place, name: named(name), column, key }
}

/** Reads a field of an embedded message, such as `address.city`. */
const insideOf = (
  tokens: FilterTokens,
  outer: PlanColumn,
  path: readonly string[],
  start: number,
  firstQuoted: number,
): PlanColumn => {
  if (path.length > MAX_FILTER_PATH) tokens.fail(`is deeper than ${MAX_FILTER_PATH} levels`, start)
  let column = outer
  for (const [i, name] of path.entries()) {
    if (i === 0) continue
    if (i >= firstQuoted)
      tokens.fail(`a field inside of ${quoted(path.slice(0, i).join('.'))} is written without quotes`, start)
    const found = column.members?.of(name)
    const written = quoted(path.slice(0, i + 1).join('.'))
    if (typeof found === 'string') return tokens.fail(`field ${written} ${found}`, start)
    if (found === undefined)
      return tokens.fail(
        `unknown field ${written}`,
        start,
        didYouMean(name, column.members?.names ?? [], path.slice(0, i)),
      )
    column = outer.of === undefined ? found : { ...found, of: outer.of }
    if (column.json?.shape !== undefined) return leafOf(tokens, column, path.slice(i + 1), start)
  }
  return column
}

/** Returns the column of free-form JSON. JSON that does not have the field's shape counts as unset. */
const entered = (tokens: FilterTokens, column: PlanColumn, start: number): PlanColumn =>
  column.json?.shape === undefined ? column : leafOf(tokens, column, [], start)

/** Reads a value inside free-form JSON, such as `settings.theme`. */
const leafOf = (
  tokens: FilterTokens,
  column: PlanColumn,
  path: readonly string[],
  start: number,
): PlanColumn => {
  const keys = column.inside?.keys ?? []
  if (path.length + keys.length >= MAX_FILTER_PATH)
    tokens.fail(`deeper than ${MAX_FILTER_PATH} levels`, start)
  for (const key of path) {
    if (!isStorable(key)) tokens.fail('a key has a NUL character, or half of a surrogate pair', start)
    if (key.startsWith('-')) tokens.fail(`a key of JSON that begins with "-" cannot be filtered`, start)
  }
  // The value is nullable even in a NOT NULL column, because JSON of a different shape counts as unset.
  return { ...column, nullable: true, inside: { keys, zero: undefined, path } }
}

const dottedKey = (tokens: FilterTokens, field: string, start: number): never =>
  tokens.fail(`a key with dots goes in double quotes, as in ${field.slice(0, 64)}."a.b"`, start)

const columnOf = (
  tokens: FilterTokens,
  { fields, of, path }: FieldPath,
  name: string,
  start: number,
): PlanColumn => {
  const column = columnNamed(fields, name, of)
  if (column !== undefined) return column
  const written = quoted([...path, name].join('.'))
  if (fields.closed?.has(name)) return tokens.fail(`field ${written} cannot be filtered`, start)
  const names = Object.keys(fields.columns)
  return tokens.fail(`unknown field ${written}`, start, didYouMean(name, names, path))
}
