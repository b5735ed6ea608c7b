import { AsyncLocalStorage } from 'node:async_hooks'

/** Who is calling, as authentication or the development headers established it. */
export interface Principal {
  readonly subject: string
  /** `account_id` of every row the caller may touch; empty reaches no tenant's row. */
  readonly tenant: string
  readonly groups: readonly string[]
  readonly scopes: readonly string[]
}

/** Nobody: every non-public call is denied and no tenant's row is in reach. */
export const ANONYMOUS: Principal = Object.freeze({ subject: '', tenant: '', groups: [], scopes: [] })

/** How a system context was entered: over all tenants, or narrowed to one. */
export interface SystemScope {
  readonly tenant?: string
  /** Why the bypass is needed; goes into the log. */
  readonly reason?: string
}

interface ContextFields {
  readonly requestId: string
  readonly principal: Principal
  readonly system: SystemScope | undefined
  /** Aborts when the caller went away or the deadline passed. */
  readonly signal: AbortSignal | undefined
  /** Milliseconds since the epoch; undefined when nothing bounds the call. */
  readonly deadline: number | undefined
  /** The transaction the call is inside of, owned by `persistence/transaction.ts`. */
  readonly transaction: unknown
}

/** As they are given: a signal may be a function, so that one nobody asks for is never made. */
type GivenFields = Omit<ContextFields, 'signal'> & {
  readonly signal: AbortSignal | (() => AbortSignal) | undefined
}

const storage = new AsyncLocalStorage<RequestContext>()
let reportSystem: (context: RequestContext, scope: SystemScope) => void = () => {}

/**
 * What a call knows about itself. The chain hands it on explicitly; user code finds it with `RequestContext.current()`.
 * One used AsyncLocalStorage slows every promise of a Node 20 process, so nothing enters it that does not need to.
 */
export class RequestContext implements ContextFields {
  readonly requestId: string
  readonly principal: Principal
  readonly system: SystemScope | undefined
  readonly deadline: number | undefined
  readonly transaction: unknown
  readonly #signal: GivenFields['signal']

  constructor(fields: Partial<GivenFields> = {}) {
    this.requestId = fields.requestId ?? ''
    this.principal = fields.principal ?? ANONYMOUS
    this.system = fields.system
    this.#signal = fields.signal
    this.deadline = fields.deadline
    this.transaction = fields.transaction
  }

  get signal(): AbortSignal | undefined {
    return typeof this.#signal === 'function' ? this.#signal() : this.#signal
  }

  /** The tenant whose rows are in reach: `''` for none, undefined for all of them (system only). */
  get tenant(): string | undefined {
    if (this.system !== undefined) return this.system.tenant
    // Whatever a principal without a tenant looks like at run time, it is none of the system's.
    const { tenant } = this.principal as { readonly tenant?: unknown }
    return typeof tenant === 'string' ? tenant : ''
  }

  with(fields: Partial<GivenFields>): RequestContext {
    return new RequestContext({ ...this, signal: this.#signal, ...fields })
  }

  /** Runs `fn` with this context as the current one. */
  run<T>(fn: () => T): T {
    return storage.run(this, fn)
  }

  /** The context of the running call; an anonymous one outside of any. */
  static current(): RequestContext {
    return storage.getStore() ?? outside
  }

  /** Runs `fn` as `principal`, keeping the rest of the current context. */
  static as<T>(principal: Partial<Principal>, fn: () => T): T {
    return RequestContext.current()
      .with({ principal: { ...ANONYMOUS, ...principal }, system: undefined })
      .run(fn)
  }

  /**
   * Runs `fn` outside of tenancy: the only bypass there is, and it is logged.
   * @param scope - `tenant` narrows the bypass to one tenant.
   */
  static asSystem<T>(fn: () => T): T
  static asSystem<T>(scope: SystemScope, fn: () => T): T
  static asSystem<T>(scopeOrFn: SystemScope | (() => T), fn?: () => T): T {
    const [scope, body] = typeof scopeOrFn === 'function' ? [{}, scopeOrFn] : [scopeOrFn, fn as () => T]
    if ('tenant' in scope && (typeof scope.tenant !== 'string' || scope.tenant === ''))
      throw new TypeError('asSystem: tenant is there and empty: leave it out to mean every tenant')
    const context = RequestContext.current().with({ system: scope })
    reportSystem(context, scope)
    return context.run(body)
  }

  /** Where uses of `asSystem` are reported; the server points it at its logger. */
  static onSystem(report: (context: RequestContext, scope: SystemScope) => void): void {
    reportSystem = report
  }
}

const outside = new RequestContext()
