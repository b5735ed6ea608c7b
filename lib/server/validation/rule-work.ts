import type { DescMessage, Message } from '@bufbuild/protobuf'
import { type Path, pathToString } from '@bufbuild/protobuf/reflect'
import { type FieldViolation, InvalidArgument } from '../../errors.js'
import { MAX_VIOLATIONS } from '../../field-violations.js'
import { getField } from '../../resource/messages/local-field.js'
import type { ExpressionCost } from './expression-cost.js'
import { isAsked } from './masked-path.js'
import type { FieldPlan, MessagePlan, Most } from './rule-plan.js'

/** The maximum cost of a message's rules. A rule that reads a single value costs 1. */
const MAX_WORK = 100_000
/** If a longer string breaks a rule of its size, its other rules are not evaluated. */
const LONG_TEXT = 1_000
/** The cost of a character relative to a value. */
const OF_CHARACTER = 0.1

/** The size of a message, measured before any rule is evaluated. */
export interface RuleWork {
  /** The total cost of the message's rules. */
  readonly work: number
  /**
   * Fields that are larger than one of their rules allows. If there are any, no other violations are
   * reported.
   */
  readonly tooLarge: readonly FieldViolation[]
}

/** @throws InvalidArgument if the message's rules cost too much and no rule about sizes is violated. */
export const ruleWork = (
  desc: DescMessage,
  plan: MessagePlan,
  message: Message,
  ignoredMask: readonly string[],
): RuleWork => {
  const tooLarge: FieldViolation[] = []
  const path: Path = []
  let work = 0
  /** The field at which the cost exceeded the maximum. */
  let exceeded: string | undefined

  const add = (costs: readonly ExpressionCost[], value: unknown): void => {
    if (exceeded !== undefined) return
    for (const cost of costs) work += costOf(cost, value)
    if (work > MAX_WORK) exceeded = pathToString(path)
  }

  const inMessage = ({ whole, fields }: MessagePlan, value: Message): void => {
    add(whole, value)
    for (const one of fields) {
      path.push(one.field)
      inField(one, getField(value, one.field))
      path.pop()
    }
  }

  const inField = (of: FieldPlan, value: unknown): void => {
    if (value === undefined || isTooLarge(of.most, value)) return
    add(of.whole, value)
    if (of.field.fieldKind === 'list') inList(of, value as readonly unknown[])
    else if (of.field.fieldKind === 'map') inMap(of, value as Readonly<Record<string, unknown>>)
    else if (of.inner !== undefined) inMessage(of.inner, value as Message)
  }

  const inList = (of: FieldPlan, elements: readonly unknown[]): void => {
    if (of.each.length === 0 && of.inner === undefined) return
    const step = { kind: 'list_sub' as const, index: 0 }
    path.push(step)
    for (; step.index < elements.length && !isOver(of); step.index++) inElement(of, elements[step.index])
    path.pop()
  }

  const inMap = (of: FieldPlan, entries: Readonly<Record<string, unknown>>): void => {
    if (of.each.length === 0 && of.keys.length === 0 && of.inner === undefined) return
    const step = { kind: 'map_sub' as const, key: '' }
    path.push(step)
    for (step.key in entries) {
      if (isOver(of)) break
      add(of.keys, step.key)
      inElement(of, entries[step.key])
    }
    path.pop()
  }

  const inElement = ({ each, inner }: FieldPlan, element: unknown): void => {
    add(each, element)
    if (inner !== undefined) inMessage(inner, element as Message)
  }

  /** Returns true if the remaining elements of the field cannot change the reported violations. */
  const isOver = ({ inner }: FieldPlan): boolean =>
    tooLarge.length >= MAX_VIOLATIONS || (exceeded !== undefined && inner === undefined)

  const isTooLarge = (most: readonly Most[], value: unknown): boolean => {
    const broken = most.find((one) => isMore(one, value))
    if (broken === undefined || !isAsked(desc, message, path, ignoredMask)) return false
    tooLarge.push({ field: pathToString(path), reason: broken.ruleId, description: broken.text })
    return true
  }

  inMessage(plan, message)
  if (exceeded !== undefined && tooLarge.length === 0)
    throw new InvalidArgument(
      exceeded,
      'is too large for its rules to be evaluated: send fewer or shorter values at a time',
    )
  return { work, tooLarge }
}

const isMore = ({ count, of }: Most, value: unknown): boolean => {
  if (of === 'entries') return (Array.isArray(value) ? value : Object.keys(value as object)).length > count
  const text = value as string | Uint8Array
  if (text.length <= LONG_TEXT) return false
  if (of === 'bytes') return (typeof text === 'string' ? Buffer.byteLength(text) : text.length) > count
  return text.length > count && [...(text as string)].length > count
}

/** Comparing two elements costs less than reading one. */
const costOf = ({ degree, splits }: ExpressionCost, value: unknown): number => {
  if (degree === 0) return 1
  const size = sizeOf(value, splits ? 1 : degree === 1 ? OF_CHARACTER : 0)
  return 1 + size ** degree / 10 ** (degree - 1)
}

/** Returns the size of a value, counted to the depth that any rule may read. */
const sizeOf = (value: unknown, perCharacter: number): number => {
  let size = 0
  const count = (one: unknown): void => {
    if (size > MAX_WORK) return
    size += 1
    if (typeof one === 'string' || one instanceof Uint8Array) size += one.length * perCharacter
    else if (Array.isArray(one)) for (let i = 0; i < one.length && size <= MAX_WORK; i++) count(one[i])
    else if (typeof one === 'object' && one !== null) {
      // A message has few keys (its fields), a map may have many.
      for (const key in one) {
        if (size > MAX_WORK) return
        if (key !== '$typeName') count((one as Readonly<Record<string, unknown>>)[key])
      }
    }
  }
  count(value)
  return size
}
