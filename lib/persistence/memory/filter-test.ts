import { compareValues, planValueOf } from '../query/compare-values.js'
import { jsonOf, valueInside } from './json-value.js'
import type { CompareOp, FilterNode, PlanColumn, PlanValue, SomeNode } from '../query/query-plan.js'

/**
 * Returns an entity's value for a column. Undefined and null represent NULL. Tags are a plain object; other
 * JSON is a string.
 */
export type ReadColumn<E> = (entity: E, column: PlanColumn) => unknown

/** Returns a test that is true if one of the related rows matches. */
export type TestSome<E> = (node: SomeNode) => (entity: E) => boolean

/**
 * Returns a test that matches exactly the entities whose rows the plan's SQL would match, with three-valued
 * logic and order by code point.
 */
export const toTest = <E>(
  node: FilterNode,
  read: ReadColumn<E>,
  some: TestSome<E> = noOthers,
): ((entity: E) => boolean) => {
  const truth = toTruth(node, read, some)
  return (entity) => truth(entity) === true
}

const noOthers = (): never => {
  throw new TypeError('a plan about several rows requires the rows of their resource')
}

/** A condition. Undefined stands for SQL's unknown. */
type Truth<E> = (entity: E) => boolean | undefined

const toTruth = <E>(node: FilterNode, read: ReadColumn<E>, some: TestSome<E>): Truth<E> => {
  switch (node.kind) {
    case 'and':
      return allOf(node.nodes.map((operand) => toTruth(operand, read, some)))
    case 'or':
      return anyOf(node.nodes.map((operand) => toTruth(operand, read, some)))
    case 'not':
      return negated(toTruth(node.node, read, some))
    case 'null': {
      const value = reader(node.column, undefined, read)
      return (entity) => value(entity) === undefined
    }
    case 'among': {
      const value = reader(node.column, undefined, read)
      const values = new Set<PlanValue | undefined>(node.values)
      return (entity) => {
        const text = value(entity)
        return text === undefined ? undefined : values.has(text)
      }
    }
    case 'element':
      return (entity) => {
        const list = jsonOf(read(entity, node.column))
        return Array.isArray(list) && list.includes(node.value)
      }
    case 'has':
      return (entity) => tagOf(read(entity, node.column), node.key) !== undefined
    case 'contains': {
      const value = reader(node.column, node.key, read)
      return (entity) => {
        const text = value(entity)
        return typeof text === 'string' ? text.includes(node.value) : undefined
      }
    }
    case 'compare': {
      const value = reader(node.column, node.key, read)
      return (entity) => holds(node.op, value(entity), node.value)
    }
    case 'some':
      return some(node)
    case 'row':
      return (entity) => {
        for (const [i, column] of node.columns.entries()) {
          const order = difference(planValueOf(column, read(entity, column)), node.values[i])
          if (order !== 0) return order === undefined ? undefined : node.op === '<' ? order < 0 : order > 0
        }
        return false
      }
  }
}

/** Returns false if an operand is false, otherwise unknown if an operand is unknown. */
const allOf =
  <E>(operands: readonly Truth<E>[]): Truth<E> =>
  (entity) => {
    let all: boolean | undefined = true
    for (const operand of operands) {
      const truth = operand(entity)
      if (truth === false) return false
      if (truth === undefined) all = undefined
    }
    return all
  }

/** Returns true if an operand is true, otherwise unknown if an operand is unknown. */
const anyOf =
  <E>(operands: readonly Truth<E>[]): Truth<E> =>
  (entity) => {
    let any: boolean | undefined = false
    for (const operand of operands) {
      const truth = operand(entity)
      if (truth === true) return true
      if (truth === undefined) any = undefined
    }
    return any
  }

const negated =
  <E>(operand: Truth<E>): Truth<E> =>
  (entity) => {
    const truth = operand(entity)
    return truth === undefined ? undefined : !truth
  }

const reader = <E>(
  column: PlanColumn,
  key: string | undefined,
  read: ReadColumn<E>,
): ((entity: E) => PlanValue | undefined) => {
  const { inside } = column
  if (inside !== undefined) return (entity) => valueInside(jsonOf(read(entity, column)), column, inside)
  return key === undefined
    ? (entity) => planValueOf(column, read(entity, column))
    : (entity) => tagOf(read(entity, column), key)
}

const tagOf = (tags: unknown, key: string): string | undefined =>
  typeof tags === 'object' && tags !== null && Object.hasOwn(tags, key)
    ? (tags as Readonly<Record<string, string>>)[key]
    : undefined

const difference = (a: PlanValue | undefined, b: PlanValue | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : compareValues(a, b)

const holds = (op: CompareOp, a: PlanValue | undefined, b: PlanValue): boolean | undefined => {
  const order = difference(a, b)
  if (order === undefined) return undefined
  switch (op) {
    case '=':
      return order === 0
    case '!=':
      return order !== 0
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
  }
}
