import { InvalidArgument } from '../../errors.js'
import { type ResourceModel, resourceModel } from '../../resource/resource-model.js'
import type { ListOptions } from '../contract/repository.js'
import { FilterTokens } from '../query/filter-tokens.js'
import { MAX_ORDER_BY_LENGTH, orderText } from '../query/order-by.js'
import { MAX_PATH_DEPTH } from './relation-loads.js'

/** A relation that a filter or a sort order names. */
export interface NamedRelation {
  /** The property of the relation, or a path of properties, in the format of `through`. */
  readonly path: string
  readonly target: ResourceModel
}

/**
 * Returns a function that finds the relations in a filter and a sort order, each after the relations on its
 * path. It is compiled once per resource. It ignores invalid input, which the list rejects. It may find a
 * relation that the list does not, but never misses one.
 */
export const relationsNamed = (
  model: ResourceModel,
): ((list: ListOptions<never>) => readonly NamedRelation[]) => {
  const names = model.relations.map((relation) => relation.proto)
  // Match `project` but not `project_id`. Most filters name no relation, so they are not parsed twice.
  const word = new RegExp(`(?<!\\w)(?:${names.map(escaped).join('|')})(?!\\w)`)
  return ({ filter = '', orderBy }) => {
    const order = orderText(orderBy)
    if (names.length === 0 || !(word.test(filter) || word.test(order))) return []
    const named = new Map<string, NamedRelation>()
    for (const path of new Set([...pathsOfFilter(filter), ...pathsOfOrder(order)])) follow(model, path, named)
    return [...named.values()]
  }
}

const escaped = (name: string): string => name.replaceAll(/[^\w]/g, '\\$&')

/** Follows a path. Columns take precedence over relations, as when the list parses the path. */
function follow(model: ResourceModel, path: string, named: Map<string, NamedRelation>): void {
  const properties: string[] = []
  let inside = model
  for (const name of path.split('.', MAX_PATH_DEPTH)) {
    if (Object.hasOwn(inside.columns, name)) return
    const relation = inside.relations.find((one) => one.proto === name)
    if (relation === undefined) return
    inside = resourceModel<object>(relation.target())
    properties.push(relation.property)
    const text = properties.join('.')
    named.set(text, { path: text, target: inside })
  }
}

/** Returns every `word {'.' word}` that is not the value of a comparison, up to the first syntax error. */
function pathsOfFilter(filter: string): readonly string[] {
  const paths: string[][] = []
  try {
    const tokens = new FilterTokens(filter)
    while (!tokens.is('end')) {
      const isComparison = tokens.is('op')
      const path = tokens.is('word') ? [tokens.text] : []
      paths.push(path)
      tokens.next()
      if (isComparison && tokens.is('word')) tokens.next()
      while (path.length > 0 && tokens.is('.')) {
        tokens.next()
        if (tokens.is('word')) path.push(tokens.text)
        tokens.next()
      }
    }
  } catch (error) {
    if (!(error instanceof InvalidArgument)) throw error
  }
  return paths.map((path) => path.join('.'))
}

const pathsOfOrder = (order: string): readonly string[] =>
  order.length > MAX_ORDER_BY_LENGTH ? [] : order.split(/[ \t\n\v\f\r,]+/)
