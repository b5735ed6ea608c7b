import { AsyncLocalStorage } from 'node:async_hooks'
import type { CallEnd } from './call-end.js'
import { frozenPrincipal, type Principal } from './principal.js'

export { ANONYMOUS, frozenPrincipal, type Principal } from './principal.js'

/** The scope of a system context: all tenants, or one. */
export interface SystemScope {
  readonly tenant?: string
  /** Why the bypass is needed; it is logged. */
  readonly reason?: string
}

/** The span that a call is in, as W3C Trace Context names it. */
export interface TraceIds {
  readonly traceId: string
  readonly spanId: string
}

interface ContextFields {
  readonly requestId: string
  /** Undefined without tracing. */
  readonly trace: TraceIds | undefined
  readonly principal: Principal
  readonly system: SystemScope | undefined
  /** Aborts when the client disconnects or the deadline passes. */
  readonly signal: AbortSignal | undefined
  /** Milliseconds since the epoch; undefined when the call has no deadline. */
  readonly deadline: number | undefined
  /** The transactions that the call is inside of. */
  readonly transaction: CallTransaction | undefined
  /** The call only validates (AIP-163): all writes of repositories are rolled back. Only a server sets it. */
  readonly validateOnly: boolean
  /** The decision about an operation of a repository; undefined outside of one. Only a server sets it. */
  readonly access: OperationDecision | undefined
}

/** The decision about an operation of a repository that the server or a function has called. */
export interface OperationDecision {
  /**
   * Carries an operation out as it was decided.
   * @param repository - that was asked for it.
   * @param unrestricted - carries operations of the repository out on all rows of the tenant.
   * @returns undefined where nothing was decided about operations of its kind on the repository.
   */
  carryOut(repository: object, operation: object, unrestricted: object): Promise<unknown> | undefined
}

/** The state of a call's transactions that a context holds. The rest belongs to the databases. */
export interface CallTransaction {
  /** Runs `work`, and then checks the rules that the database otherwise checks at COMMIT. */
  checked<T>(work: () => Promise<T>): Promise<T>
  /** @throws TypeError when all of them have ended. */
  afterCommit(fn: () => unknown, context: RequestContext): void
  /** Of a call that joins none of them. */
  detached(): CallTransaction
}

/** A failure whose outcome has no caller. */
export interface CallFailure {
  readonly requestId: string
  readonly message: string
  readonly error: unknown
  /** It works, and should be looked at. */
  readonly isWarning?: boolean
}

export type FailureReport = (failure: CallFailure) => void

/**
 * The fields as they are given. `signal` may be an object with a signal, which is created only when it is
 * read.
 */
type GivenFields = Omit<ContextFields, 'signal'> & {
  readonly signal: AbortSignal | (CallEnd & { readonly signal: AbortSignal }) | undefined
  /** Receives uses of the system's rights. Default: the function given to `RequestContext.onSystem`. */
  readonly onSystem: SystemReport | undefined
  /** Receives failures without a caller. Default: a line on stderr. */
  readonly onFailure: FailureReport | undefined
  /** The same for all contexts of a call. */
  readonly call: object | undefined
}

/** A resource that was accessed across tenants, by `asSystem`. */
export interface SystemUse {
  readonly requestId: string
  /** The principal of the call. */
  readonly principal: Pick<Principal, 'subject' | 'tenant'>
  readonly reason: string | undefined
  /** The type of the resource; empty when no repository was used, as with the application's own SQL. */
  readonly resource: string
  /** The tenant to which the use was limited; `*` for every tenant. */
  readonly tenant: string
}

export type SystemReport = (use: SystemUse) => void

const storage = new AsyncLocalStorage<RequestContext>()
/** The last one is used. */
const reports = new Set<SystemReport>()
/** The resources that were reported for each use of `asSystem`. */
const reported = new WeakMap<SystemScope, Set<string>>()

/**
 * The identity and state of a call. The chain passes it explicitly; your code finds it with
 * `RequestContext.current()`. An AsyncLocalStorage in use slows every promise of a Node 20 process, so only
 * code that needs it enters it.
 * @example
 * ```ts
 * import { RequestContext } from 'ashlar'
 * import type { WidgetRepository } from './widget-repository.js'
 *
 * export const nightly = (widgets: WidgetRepository) =>
 *   RequestContext.as({ tenant: 'acme', subject: 'nightly' }, () => widgets.list({ filter: 'size = 0' }))
 * ```
 */
export class RequestContext implements ContextFields {
  readonly requestId: string
  readonly trace: TraceIds | undefined
  readonly principal: Principal
  readonly system: SystemScope | undefined
  readonly deadline: number | undefined
  readonly transaction: CallTransaction | undefined
  readonly validateOnly: boolean
  readonly access: OperationDecision | undefined
  readonly #signal: GivenFields['signal']
  readonly #onSystem: GivenFields['onSystem']
  readonly #onFailure: GivenFields['onFailure']
  readonly #call: object

  constructor(fields: Partial<GivenFields> = {}) {
    this.requestId = fields.requestId ?? ''
    this.trace = fields.trace
    this.principal = frozenPrincipal(fields.principal)
    this.system = fields.system === undefined ? undefined : ownScope(fields.system)
    this.#signal = fields.signal
    this.#onSystem = fields.onSystem
    this.#onFailure = fields.onFailure
    this.#call = fields.call ?? this
    this.deadline = fields.deadline
    this.transaction = fields.transaction
    this.validateOnly = fields.validateOnly === true
    this.access = fields.access
    // Code that holds the context of a call must not be able to turn it into another call.
    if (new.target === RequestContext) Object.freeze(this)
  }

  get signal(): AbortSignal | undefined {
    return this.#signal instanceof AbortSignal ? this.#signal : this.#signal?.signal
  }

  /**
   * Tells the same as `signal`. Repositories use it, so that a signal is created only for a call that asks
   * for one.
   */
  get end(): CallEnd | undefined {
    return this.#signal
  }

  /** The tenant whose rows can be accessed: `''` for none, undefined for all of them (system only). */
  get tenant(): string | undefined {
    return this.system === undefined ? this.principal.tenant : this.system.tenant
  }

  /** A copy with other fields. */
  with(fields: Partial<GivenFields>): RequestContext {
    return new RequestContext(RequestContext.fieldsOf(this, fields))
  }

  /** The fields of a context, to create another one from. */
  protected static fieldsOf(context: RequestContext, changed: Partial<GivenFields>): Partial<GivenFields> {
    return {
      ...context,
      signal: context.#signal,
      onSystem: context.#onSystem,
      onFailure: context.#onFailure,
      call: context.#call,
      ...changed,
    }
  }

  /** The value cached for this call, in any of its contexts. If `value` is given, it is stored. */
  kept<T>(calls: WeakMap<object, T>, value?: T): T | undefined {
    return (value === undefined ? calls : calls.set(this.#call, value)).get(this.#call)
  }

  /** True if both contexts come from one call. */
  isOfSameCallAs(other: RequestContext): boolean {
    return this.#call === other.#call
  }

  /**
   * Runs `fn` after the outermost transaction of this context has committed, or at once outside of a
   * transaction. `fn` does not run when the transaction, or its savepoint, is rolled back or retried, or when
   * it is unknown whether the commit took place. Errors of `fn` are logged: the changes are already saved.
   */
  get afterCommit(): (fn: () => unknown) => void {
    return (fn) => {
      if (this.transaction === undefined) void this.runLogged(fn)
      else this.transaction.afterCommit(fn, this)
    }
  }

  /** Runs `fn` in this context, and logs its errors. */
  async runLogged(fn: () => unknown): Promise<void> {
    try {
      await (this.access === undefined ? this : this.with({ access: undefined })).run(fn)
    } catch (error) {
      this.reportFailure('a function failed that was to run after a commit', error)
    }
  }

  /** Reports a failure whose outcome has no caller. @param isWarning - it works, and should be looked at. */
  reportFailure(message: string, error: unknown, isWarning = false): void {
    const failure = { requestId: this.requestId, message, error, ...(isWarning && { isWarning }) }
    ;(this.#onFailure ?? failureToStderr)(failure)
  }

  /** Reports an access of the system: once for each use of `asSystem` and resource. Repositories call it. */
  reportSystemUse(resource: string): void {
    const { requestId, principal, system } = this
    const known = system && reported.get(system)
    if (known === undefined || known.has(resource)) return
    known.add(resource)
    const { subject, tenant } = principal
    const toLog: SystemReport = (use) => toStderr('info', SYSTEM_USE, use)
    const report = this.#onSystem ?? [...reports].at(-1) ?? toLog
    report({
      requestId,
      principal: { subject, tenant },
      reason: system?.reason,
      resource,
      tenant: system?.tenant ?? '*',
    })
  }

  /**
   * Reports a use of the system's rights that ended, or is no longer visible, without a reported resource.
   */
  #reportUnseen(): void {
    if (this.system !== undefined && reported.get(this.system)?.size === 0) this.reportSystemUse('')
  }

  /** Runs `fn` with this context as the current one. */
  run<T>(fn: () => T): T {
    return storage.run(this, fn)
  }

  /** The context of the running call; an anonymous one outside of any. */
  static current(): RequestContext {
    return storage.getStore() ?? outside
  }

  /** Runs `fn` outside of every transaction of the running call, with the rest of its context. */
  static detached<T>(fn: () => T): T {
    const current = RequestContext.current()
    return current.with({ transaction: current.transaction?.detached(), access: undefined }).run(fn)
  }

  /** Runs `fn` as `principal`, with the rest of the current context. */
  static as<T>(principal: Partial<Principal>, fn: () => T): T {
    return RequestContext.current()
      .with({ principal: frozenPrincipal(principal), system: undefined, access: undefined })
      .run(fn)
  }

  /**
   * Runs `fn` outside of tenancy. It is the only bypass. The server of the call logs each resource that is
   * accessed this way, at info. A use that accesses no repository is logged when `fn` ends, with an empty
   * resource. The `tenant` of a scope limits the bypass to one tenant.
   */
  static asSystem<T>(fn: () => T): T
  static asSystem<T>(scope: SystemScope, fn: () => T): T
  static asSystem<T>(scopeOrFn: SystemScope | (() => T), fn?: () => T): T {
    const [scope, body] = typeof scopeOrFn === 'function' ? [{}, scopeOrFn] : [scopeOrFn, fn as () => T]
    if ('tenant' in scope && (typeof scope.tenant !== 'string' || scope.tenant === ''))
      throw new TypeError('asSystem: tenant is there and empty: leave it out to mean every tenant')
    // Each use has its own scope object, so that each use is reported.
    const context = RequestContext.current().with({ system: { ...scope }, access: undefined })
    const unseen = (): void => context.#reportUnseen()
    let result: T
    try {
      result = context.run(body)
    } catch (error) {
      unseen()
      throw error
    }
    if (result instanceof Promise) return result.finally(unseen) as T
    unseen()
    return result
  }

  /**
   * Sets where uses of `asSystem` outside of a server's call are reported, instead of stderr. A serving
   * server sets its own logger.
   * @returns a function that ends it.
   */
  static onSystem(report: SystemReport): () => void {
    const mine: SystemReport = (use) => report(use)
    reports.add(mine)
    return () => void reports.delete(mine)
  }
}

/** An immutable copy. The scope of a context is used as it is, because reports are remembered by it. */
function ownScope(scope: SystemScope): SystemScope {
  if (reported.has(scope)) return scope
  const own = Object.freeze({ ...scope })
  reported.set(own, new Set())
  return own
}

/** A line in the format of the server's default logger. */
function toStderr(level: string, msg: string, more: object): void {
  const record = { time: new Date().toISOString(), level, msg, ...more }
  process.stderr.write(`${JSON.stringify(record)}\n`)
}

const failureToStderr: FailureReport = ({ requestId, message, error, isWarning = false }) => {
  const { name, message: text } = error instanceof Error ? error : new Error(String(error))
  toStderr(isWarning ? 'warn' : 'error', message, { requestId, err: { name, message: text } })
}

/** The message of the log record for a use of `asSystem`. */
export const SYSTEM_USE = 'asSystem'

const outside = new RequestContext()
