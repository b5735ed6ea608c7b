import { snakeCase } from '../text/snake-case.js'
import { problem, type Problem } from '../errors.js'
import type { ResourceModel } from './resource-model.js'

const SUFFIX = /(?<=.)Entity$/

/** Returns the default type of a class: `widget` for `Widget` and for `WidgetEntity`. */
export const typeOfClass = (name: string): string => snakeCase(name.replace(SUFFIX, ''))

type Typed = Pick<ResourceModel, 'entity' | 'type'>

const isShortened = ({ entity: { name }, type }: Typed): boolean =>
  SUFFIX.test(name) && typeOfClass(name) === type

/**
 * Returns the problem of classes such as `Widget` and `WidgetEntity`, whose rules and events would collide.
 */
export function sharedTypeProblems(model: Typed, others: readonly Typed[]): Problem[] {
  const other = others.find(
    (one) =>
      one.entity !== model.entity && one.type === model.type && (isShortened(one) || isShortened(model)),
  )
  if (other === undefined) return []
  const rule = `its resource type is ${model.type}, and so is that of ${other.entity.name}`
  return [problem('entity', rule, `write @Resource({ type: ... }) above one of them`)]
}
