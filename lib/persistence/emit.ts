import { RequestContext } from '../context.js'
import { InvalidArgument, PermissionDenied } from '../errors.js'
import { surrounding, watched } from './contract/open-transaction.js'
import { cloudEvent } from './outbox/events/cloud-event.js'
import { isStorable } from './query/reachable.js'

/** An event of your own. */
export interface OwnEvent {
  /** The subject, such as `order`: a word of letters, digits and `_`. */
  readonly resource: string
  /** The verb, such as `paid`: a word likewise. The type of the event is `order.paid`. */
  readonly verb: string
  /** The key of the resource. Events with the same resource and key keep their order. */
  readonly key: string
  /** A JSON value. */
  readonly data?: unknown
  /**
   * Whose event it is. Default: the tenant of the call. `''` for an event of all tenants; another tenant's
   * only as system.
   */
  readonly tenant?: string
  /** Default: the key. */
  readonly subject?: string
  /** A URI reference. Default: `/` and the resource. */
  readonly source?: string
}

/** Options of `emit`. */
export interface EmitOptions {
  /** Default: the context of the running call. */
  readonly context?: RequestContext
}

/**
 * Writes an event of your own in the transaction of the running call: it is delivered when the transaction
 * commits, and never when it is rolled back.
 * @throws TypeError outside of a transaction. @throws InvalidArgument for a `resource`, `verb` or `key` that
 * is none.
 * @throws PermissionDenied for another tenant's event, and without a tenant.
 * @example
 * ```ts
 * import { emit, transaction } from 'ashlar/persistence'
 * import type { DataSource } from 'typeorm'
 *
 * export const pay = (dataSource: DataSource, order: string) =>
 *   transaction(dataSource, async () => {
 *     await emit({ resource: 'order', verb: 'paid', key: order, data: { by: 'card' } })
 *   })
 * ```
 */
export function emit(event: OwnEvent, { context: given }: EmitOptions = {}): Promise<void> {
  try {
    const transaction = surrounding(given)?.innermost
    if (transaction === undefined)
      throw new TypeError('emit: no transaction is open: call it inside transaction(), and await it')
    const row = rowOf(event, given ?? RequestContext.current())
    const work = transaction.perform('emit', () => transaction.append([row]))
    return watched(transaction.database, given, 'emit', work)
  } catch (error) {
    return Promise.reject(error as Error)
  }
}

const WORD = /^[a-z][a-z0-9_]{0,62}$/i
const MAX_KEY_CHARACTERS = 1000

function rowOf(event: OwnEvent, context: RequestContext) {
  const { resource, verb, key, data, subject, source = `/${resource}` } = event
  for (const [name, word] of Object.entries({ resource, verb }))
    if (!WORD.test(word))
      throw new InvalidArgument(name, 'must be a word of letters, digits and _, such as order')
  if (key === '' || key.length > MAX_KEY_CHARACTERS || !isStorable(key))
    throw new InvalidArgument('key', `must have 1 to ${MAX_KEY_CHARACTERS} characters, and no NUL`)
  return cloudEvent({ source, resource, verb, key, subject, tenant: tenantOf(event, context), data }, context)
}

function tenantOf({ tenant }: OwnEvent, context: RequestContext): string {
  const own = context.tenant
  if (tenant === '') return ''
  if (tenant !== undefined && context.system === undefined && tenant !== own)
    throw new PermissionDenied('emit: the event belongs to another tenant')
  const whose = tenant ?? own ?? ''
  if (whose === '' || !isStorable(whose))
    throw new PermissionDenied("emit: the call has no tenant: pass tenant, or '' for an event of all tenants")
  return whose
}
