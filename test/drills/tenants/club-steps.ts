import fc from 'fast-check'
import { type Kind, KINDS, type Operation } from './club-model.js'

/** So many tenants of a run have rows, so that there are enough of each. */
const AT_ONCE = 3
export const TENANTS = ['acme', 'a.b', 'ACME', 'acme ', 'é', `o'b"r; --`]
/** The same in every tenant. An empty one is nobody's. */
export const IDS = ['a', 'A', 'a.b', 'é', `q'"`, 'a ']
const id = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'A') },
  { weight: 1, arbitrary: fc.constantFrom(...IDS) },
)
const key = fc.oneof(
  { weight: 12, arbitrary: id },
  { weight: 1, arbitrary: fc.constantFrom('missing', '', 'a/b') },
)
/** Titles of a tenant have it in them, so that a response with another one's is found. */
export const mark = (tenant: number) => `‹${tenant}›`

const someKeys = fc.uniqueArray(fc.oneof({ weight: 9, arbitrary: id }, { weight: 1, arbitrary: key }), {
  minLength: 1,
  maxLength: 3,
})
const refs = {
  club: fc.constant({}),
  member: fc.oneof(
    fc.record({ club: key, buddy: key }, { requiredKeys: [] }),
    fc.record({ club: id }),
    fc.record({ buddy: fc.constant(undefined) }),
    fc.constant({}),
  ),
  fee: fc.record({ member: key }),
} as const
const change = (kind: Kind) =>
  fc.record({
    id,
    title: fc.nat(99).map(String),
    refs: refs[kind] as fc.Arbitrary<Readonly<Record<string, string | undefined>>>,
    ...(kind === 'member' && { makerId: fc.constantFrom('', ...IDS, 'missing') }),
  })

const operationOf = (kind: Kind): fc.Arbitrary<Operation> => {
  const make = (op: string, weight: number, fields: Record<string, fc.Arbitrary<unknown>>) => ({
    weight,
    arbitrary: fc.record({
      op: fc.constant(op),
      kind: fc.constant(kind),
      ...fields,
    }) as fc.Arbitrary<Operation>,
  })
  const force = { force: fc.boolean() }
  return fc.oneof(
    make('create', 8, { change: change(kind), isExpired: fc.boolean() }),
    make('update', 4, { change: change(kind) }),
    ...(kind === 'member'
      ? [
          make('batchUpdate', 2, {
            changes: fc.uniqueArray(change(kind), { minLength: 1, maxLength: 3, selector: (one) => one.id }),
          }),
        ]
      : []),
    make('delete', 2, { ids: id.map((one) => [one]), ...force }),
    make('batchDelete', 1, { ids: someKeys, ...force }),
    make('undelete', 3, { id: key }),
    make('get', 2, { id: key }),
    make('batchGet', 2, { ids: someKeys }),
    make('list', 3, { showDeleted: fc.boolean() }),
    make('purge', 1, {}),
  )
}

export interface Step {
  readonly tenant: number
  readonly via: 'repository' | 'gRPC' | 'HTTP'
  /** `blind` may read no club, and `nobody` has no tenant. */
  readonly who: 'boss' | 'reader' | 'blind' | 'nobody'
  readonly operation: Operation
}

const step: fc.Arbitrary<Step> = fc.record({
  tenant: fc.nat(AT_ONCE - 1),
  via: fc.constantFrom('repository', 'gRPC', 'gRPC', 'HTTP'),
  who: fc.oneof(
    { weight: 12, arbitrary: fc.constant('boss' as const) },
    { weight: 1, arbitrary: fc.constantFrom('reader' as const, 'blind' as const, 'nobody' as const) },
  ),
  operation: fc.constantFrom(...KINDS, 'member' as const).chain(operationOf),
})

/** What some tenants do, each in its order. @param most - steps in all. */
export const stepsOf = (most: number): fc.Arbitrary<readonly Step[]> =>
  fc
    .tuple(fc.nat(TENANTS.length - 1), fc.array(step, { minLength: most / 2, maxLength: most, size: 'max' }))
    .map(([first, steps]) => steps.map((one) => ({ ...one, tenant: (first + one.tenant) % TENANTS.length })))

/** With the tenant in every title. */
export const withMark = (step: Step): Step => {
  const { operation, tenant } = step
  const marked = <C extends { readonly title?: string }>(change: C): C => ({
    ...change,
    title: `${mark(tenant)} ${change.title ?? ''}`,
  })
  if ('change' in operation) return { ...step, operation: { ...operation, change: marked(operation.change) } }
  if ('changes' in operation)
    return { ...step, operation: { ...operation, changes: operation.changes.map(marked) } }
  return step
}
