import { RequestContext } from '../context.js'
import { InvalidArgument, PermissionDenied } from '../errors.js'
import { surrounding, watched } from './contract/open-transaction.js'
import { cloudEvent } from './outbox/events/cloud-event.js'
import { isStorable } from './query/reachable.js'

/** An event that the application emits. */
export interface OwnEvent {
  /** The subject of the event type, such as `order`: letters, digits and `_`. */
  readonly resource: string
  /**
   * The verb of the event type, such as `paid`: letters, digits and `_`. The example's type is `order.paid`.
   */
  readonly verb: string
  /** The resource's key. Events with the same resource and key are delivered in order. */
  readonly key: string
  /** The event's data, a JSON value. */
  readonly data?: unknown
  /**
   * The tenant of the event. Default: the tenant of the call. An empty string marks an event of all tenants.
   * Only system calls can name another tenant.
   */
  readonly tenant?: string
  /** The CloudEvents subject. Default: the key. */
  readonly subject?: string
  /** The event's source, a URI reference. Default: `/` followed by the resource. */
  readonly source?: string
}

/** Options of `emit`. */
export interface EmitOptions {
  /** The context of the call. Default: the current one. */
  readonly context?: RequestContext
}

/**
 * Emits an event in the transaction of the current call. It is delivered if the transaction commits, and
 * discarded if it is rolled back.
 *
 * @throws TypeError outside a transaction.
 * @throws InvalidArgument if `resource`, `verb` or `key` is invalid.
 * @throws PermissionDenied if the event has another tenant, or if the call has none.
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
