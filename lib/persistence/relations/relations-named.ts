import { InvalidArgument } from '../../errors.js'
import { type ResourceModel, resourceModel } from '../../resource/resource-model.js'
import type { ListOptions } from '../contract/repository.js'
import { FilterTokens } from '../query/filter-tokens.js'
import { MAX_ORDER_BY_LENGTH, orderText } from '../query/order-by.js'
import { MAX_PATH_DEPTH } from './relation-loads.js'

/** A relation that a filter or an order names. */
export interface NamedRelation {
  /** As `through` takes it: its property, or a path of properties. */
  readonly path: string
  readonly target: ResourceModel
}

/**
 * The relations that a filter and an order of a resource name, each after those on its path; compiled once
 * per resource. Invalid input is not an error here, because the list rejects it. It may find a relation that
 * the list does not, but never misses one.
 */
export const relationsNamed = (
  model: ResourceModel,
): ((list: ListOptions<never>) => readonly NamedRelation[]) => {
  const names = model.relations.map((relation) => relation.proto)
  // `project`, and not `project_id`: most filters name no relation, and are not read twice.
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

/** A column goes before a relation, as it does where the list reads the path. */
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

/** Every `word {'.' word}` that is not the value of a comparison, as far as the text can be read. */
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
