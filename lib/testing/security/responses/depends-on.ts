import type { ResponseValues } from './response-values.js'

/**
 * The state of the rows that a caller may not access: missing, present with some values, or present with
 * other values.
 */
export type State = 'absent' | 'first' | 'other'

/** The response of a call in a state. */
export interface Seen {
  readonly state: State
  readonly response: ResponseValues
}

/**
 * Returns the paths of values that depend on the state. A value counts if it is constant within a state, or
 * grows by the same number with each call, and differs between states.
 */
export const dependsOn = (all: readonly Seen[]): readonly string[] =>
  [...new Set(all.flatMap(({ response }) => [...response.keys()]))].filter((path) => isDependent(all, path))

type Value = string | number | undefined

const isDependent = (all: readonly Seen[], path: string): boolean => {
  const values = all.map(({ response }) => response.get(path))
  if (values.every((value) => value === values[0])) return false
  if (changesAt(all, values, isComing) || changesAt(all, values, isGoing)) return true
  const steps = stillSteps(all, values)
  if (steps === undefined) return false
  const [step = 0] = steps
  const isEven = steps.every((one) => one === step)
  const noise = isEven ? 0 : all.length * Math.max(...steps.map(Math.abs))
  const even = values.map((value, index) =>
    typeof value === 'number' && isEven ? value - step * index : value,
  )
  const isSame = (one: Value, other: Value): boolean =>
    typeof one === 'number' && typeof other === 'number' ? Math.abs(one - other) <= noise : one === other
  const of = (state: State): readonly Value[] => even.filter((_, index) => all[index]?.state === state)
  const isOne = (some: readonly Value[]): boolean => some.every((value) => isSame(value, some[0]))
  const [absent, first, other] = [of('absent'), of('first'), of('other')]
  const isSeen = isOne(absent) && absent.length > 0 && first.length > 0
  if (isSeen && first.every((value) => !isSame(value, absent[0]))) return true
  return first.length > 0 && other.length > 0 && isOne(first) && isOne(other) && !isSame(first[0], other[0])
}

const isComing = (before: State, after: State): boolean => before === 'absent' && after !== 'absent'
const isGoing = (before: State, after: State): boolean => isComing(after, before)

/**
 * Returns true if a value changes exactly when rows are created, or exactly when they are removed. This
 * detects counters that include soft-deleted rows, or only those.
 */
const changesAt = (all: readonly Seen[], values: readonly Value[], isStep: typeof isComing): boolean => {
  let steps = 0
  for (const [index, value] of values.entries()) {
    const [before, after] = [all[index - 1], all[index]]
    if (before === undefined || after === undefined) continue
    const is = isStep(before.state, after.state)
    if (is !== (value !== values[index - 1])) return false
    steps += Number(is)
  }
  return steps > 0
}

/**
 * Returns the numbers by which a value changes between calls of one state; undefined if it changes at random.
 */
const stillSteps = (all: readonly Seen[], values: readonly Value[]): readonly number[] | undefined => {
  const steps: number[] = []
  for (const [index, value] of values.entries()) {
    if (index === 0 || all[index]?.state !== all[index - 1]?.state) continue
    const before = values[index - 1]
    if (value === before) steps.push(0)
    else if (typeof value === 'number' && typeof before === 'number') steps.push(value - before)
    else return undefined
  }
  return steps
}
