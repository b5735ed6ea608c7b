import type { FastifyRequest } from 'fastify'
import { denied } from './problems.mjs'

export interface Caller {
  readonly tenant: string
  readonly subject: string
  readonly groups: readonly string[]
}

const GRANTS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  staff: {
    customer: ['get', 'list', 'create', 'update', 'delete'],
    product: ['get', 'list', 'create', 'update'],
    order: ['get', 'list', 'place', 'update', 'cancel', 'delete'],
    order_line: ['list', 'delete'],
  },
  managers: { order: ['approve'] },
  warehouse: { product: ['restock'] },
}

/**
 * Returns the caller of a request.
 * @throws unless the caller has the permission.
 */
export function authorized({ headers }: FastifyRequest, verb: string, resource: string): Caller {
  const tenant = String(headers['account-id'] ?? '')
  const groups = String(headers['groups'] ?? '').split(',')
  const isGranted = groups.some((group) => GRANTS[group]?.[resource]?.includes(verb))
  if (tenant === '' || !isGranted) throw denied()
  return { tenant, subject: String(headers['subject'] ?? ''), groups }
}

/** Only managers may change orders that another person has placed. */
export function mustReach({ subject, groups }: Caller, { placed_by }: { readonly placed_by: string }): void {
  if (placed_by !== subject && !groups.includes('managers')) throw denied()
}
