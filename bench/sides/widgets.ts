import { Widget_State } from '../../examples/widgets/gen/widgets_pb.js'
import type { Widget } from '../../examples/widgets/widget.js'

/** The rows of both sides: 100 tenants with 100 widgets each. */
export const TENANTS = 100
export const WIDGETS = 100
export const tenantOf = (n: number): string => `tenant-${String(n % TENANTS).padStart(3, '0')}`
export const keyOf = (n: number): string => `widget-${String(n % WIDGETS).padStart(5, '0')}`

/** The request of the list. */
export const LIST = {
  filter: 'size >= 200 AND state = "ACTIVE"',
  orderBy: 'display_name desc',
  pageSize: 50,
} as const

/** Returns the n-th widget of a tenant without the fields that a create generates. */
export const widgetOf = (n: number): Partial<Widget> => ({
  id: keyOf(n),
  displayName: `Widget ${(n * 7919) % 1009}`,
  description: `A new red widget made of steel, number ${n} of its series`,
  size: (n * 37) % 1000,
  price: n / 4,
  state: n % 8 === 0 ? Widget_State.RETIRED : Widget_State.ACTIVE,
  tags: { env: 'prod', team: `t${n % 7}` },
})

/** Distributes the calls over tenants and keys, in the same way on every side. */
export function turns(): () => { readonly tenant: string; readonly key: string } {
  let n = 0
  return () => {
    n = (n + 7919) % (TENANTS * WIDGETS)
    return { tenant: tenantOf(n), key: keyOf(Math.floor(n / TENANTS)) }
  }
}
