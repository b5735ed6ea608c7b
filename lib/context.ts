import { AsyncLocalStorage } from 'node:async_hooks'
import type { CallEnd } from './call-end.js'
import { frozenPrincipal, type Principal } from './principal.js'

export { ANONYMOUS, frozenPrincipal, type Principal } from './principal.js'

/** The scope of system access: all tenants, or one. */
export interface SystemScope {
  readonly tenant?: string
  /** The reason for bypassing tenant isolation, which is logged. */
  readonly reason?: string
}

/** The current trace and span (W3C Trace Context). @inline */
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
  /** The deadline in milliseconds since the epoch; undefined if the call has none. */
  readonly deadline: number | undefined
  /** The transactions around the call. @internal */
  readonly transaction: CallTransaction | undefined
  /**
   * True if the call only validates (AIP-163): all repository writes are rolled back. Only a server sets it.
   */
  readonly validateOnly: boolean
  /**
   * The decision about a repository's operation; undefined outside an operation. Only a server sets it.
   * @internal
   */
  readonly access: OperationDecision | undefined
}

/** The decision about a repository's operation that the server or a function has called. */
export interface OperationDecision {
  /**
   * Executes an operation within the decision.
   * @param repository - the repository on which the operation was called.
   * @param unrestricted - executes operations on all rows of the tenant.
   * @returns undefined if no decision was made about operations of this kind on the repository.
   */
  carryOut(repository: object, operation: object, unrestricted: object): Promise<unknown> | undefined
}

/** The part of a call's transactions that a context uses. The databases add the rest. */
export interface CallTransaction {
  /** Runs `work`, and then checks the constraints that the database otherwise checks at COMMIT. */
  checked<T>(work: () => Promise<T>): Promise<T>
  /** @throws TypeError if all transactions have ended. */
  afterCommit(fn: () => unknown, context: RequestContext): void
  /** Returns the state for a call that joins none of the transactions. */
  detached(): CallTransaction
}

/** A failure that no caller receives. @inline */
export interface CallFailure {
  readonly requestId: string
  readonly message: string
  readonly error: unknown
  /** True if the call succeeded but the problem should be investigated. */
  readonly isWarning?: boolean
}

/** @inline */
export type FailureReport = (failure: CallFailure) => void

/**
 * The fields as passed to the constructor. `signal` may be an object that creates the signal when it is first
 * read.
 */
type GivenFields = Omit<ContextFields, 'signal'> & {
  readonly signal: AbortSignal | (CallEnd & { readonly signal: AbortSignal }) | undefined
  /** Called when code uses the system's rights. Default: the function given to `RequestContext.onSystem`. */
  readonly onSystem: SystemReport | undefined
  /** Called for failures that no caller receives. Default: writes a line to stderr. */
  readonly onFailure: FailureReport | undefined
  /** Shared by all contexts of a call. */
  readonly call: object | undefined
}

/**
 * A resource that was accessed across tenants, by `asSystem`.
 * @inline
 */
export interface SystemUse {
  readonly requestId: string
  /** The principal of the call. */
  readonly principal: Pick<Principal, 'subject' | 'tenant'>
  readonly reason: string | undefined
  /** The type of the resource; empty if no repository was used, as with the application's own SQL. */
  readonly resource: string
  /** The tenant to which the use was limited; `*` for all tenants. */
  readonly tenant: string
}

/** @inline */
export type SystemReport = (use: SystemUse) => void

const storage = new AsyncLocalStorage<RequestContext>()
/** The function that was added last is used. */
const reports = new Set<SystemReport>()
/** The resources that were reported for each use of `asSystem`. */
const reported = new WeakMap<SystemScope, Set<string>>()

/**
 * The identity and state of a call. The chain passes it explicitly; application code gets it with
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
  /** @internal */
  readonly transaction: CallTransaction | undefined
  readonly validateOnly: boolean
  /** @internal */
  readonly access: OperationDecision | undefined
  readonly #signal: GivenFields['signal']
  readonly #onSystem: GivenFields['onSystem']
  readonly #onFailure: GivenFields['onFailure']
  readonly #call: object

  /** @internal */
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
    // Code that has a call's context must not be able to turn it into another call's.
    if (new.target === RequestContext) Object.freeze(this)
  }

  get signal(): AbortSignal | undefined {
    return this.#signal instanceof AbortSignal ? this.#signal : this.#signal?.signal
  }

  /**
   * Reports the same end as `signal`. Repositories use it, so that a signal is created only for calls that
   * read it.
   * @internal
   */
  get end(): CallEnd | undefined {
    return this.#signal
  }

  /** The tenant whose rows can be accessed: `''` for none, undefined for all (system only). */
  get tenant(): string | undefined {
    return this.system === undefined ? this.principal.tenant : this.system.tenant
  }

  /** Returns a copy with changed fields. @internal */
  with(fields: Partial<GivenFields>): RequestContext {
    return new RequestContext(RequestContext.fieldsOf(this, fields))
  }

  /** Returns the fields of a context, to create another one from. @internal */
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

  /**
   * Returns the value cached for this call, whichever of its contexts this is. If `value` is given, stores it
   * first.
   * @internal
   */
  kept<T>(calls: WeakMap<object, T>, value?: T): T | undefined {
    return (value === undefined ? calls : calls.set(this.#call, value)).get(this.#call)
  }

  /** True if both contexts belong to the same call. @internal */
  isOfSameCallAs(other: RequestContext): boolean {
    return this.#call === other.#call
  }

  /**
   * Runs `fn` after the outermost transaction of this context has committed, or at once outside a
   * transaction. `fn` does not run if the transaction or its savepoint is rolled back or retried, or if it is
   * unknown whether the commit succeeded. Errors of `fn` are logged, because the changes are already saved.
   */
  get afterCommit(): (fn: () => unknown) => void {
    return (fn) => {
      if (this.transaction === undefined) void this.runLogged(fn)
      else this.transaction.afterCommit(fn, this)
    }
  }

  /** Runs `fn` in this context and logs its errors. @internal */
  async runLogged(fn: () => unknown): Promise<void> {
    try {
      await (this.access === undefined ? this : this.with({ access: undefined })).run(fn)
    } catch (error) {
      this.reportFailure('a function registered to run after a commit failed', error)
    }
  }

  /**
   * Reports a failure that no caller receives.
   * @internal
   * @param isWarning - true if the call succeeded but the problem should be investigated.
   */
  reportFailure(message: string, error: unknown, isWarning = false): void {
    const failure = { requestId: this.requestId, message, error, ...(isWarning && { isWarning }) }
    ;(this.#onFailure ?? failureToStderr)(failure)
  }

  /**
   * Reports an access with the system's rights, once for each use of `asSystem` and resource. Called by
   * repositories.
   * @internal
   */
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
   * Reports a use of the system's rights that ended, or can no longer be observed, without a reported
   * resource.
   */
  #reportUnseen(): void {
    if (this.system !== undefined && reported.get(this.system)?.size === 0) this.reportSystemUse('')
  }

  /** Runs `fn` with this context as the current one. */
  run<T>(fn: () => T): T {
    return storage.run(this, fn)
  }

  /** Returns the context of the running call, or an anonymous one outside any call. */
  static current(): RequestContext {
    return storage.getStore() ?? outside
  }

  /** Runs `fn` outside the running call's transactions. The rest of the context remains. */
  static detached<T>(fn: () => T): T {
    const current = RequestContext.current()
    return current.with({ transaction: current.transaction?.detached(), access: undefined }).run(fn)
  }

  /** Runs `fn` as `principal`. The rest of the current context remains. */
  static as<T>(principal: Partial<Principal>, fn: () => T): T {
    return RequestContext.current()
      .with({ principal: frozenPrincipal(principal), system: undefined, access: undefined })
      .run(fn)
  }

  /**
   * Runs `fn` without tenant isolation. This is the only bypass. The call's server logs each resource that is
   * accessed this way, at level info. A use that accesses no repository is logged when `fn` ends, with an
   * empty resource. The scope's `tenant` limits the bypass to one tenant.
   */
  static asSystem<T>(fn: () => T): T
  static asSystem<T>(scope: SystemScope, fn: () => T): T
  static asSystem<T>(scopeOrFn: SystemScope | (() => T), fn?: () => T): T {
    const [scope, body] = typeof scopeOrFn === 'function' ? [{}, scopeOrFn] : [scopeOrFn, fn as () => T]
    if ('tenant' in scope && (typeof scope.tenant !== 'string' || scope.tenant === ''))
      throw new TypeError('asSystem: tenant is empty: leave it out to reach every tenant')
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
   * Sets the function that receives uses of `asSystem` outside a server's call, instead of stderr. A running
   * server sets its own logger.
   * @returns a function that removes it.
   */
  static onSystem(report: SystemReport): () => void {
    const mine: SystemReport = (use) => report(use)
    reports.add(mine)
    return () => void reports.delete(mine)
  }
}

/**
 * Returns an immutable copy. A context's own scope is returned unchanged, because reports are recorded by
 * scope.
 */
function ownScope(scope: SystemScope): SystemScope {
  if (reported.has(scope)) return scope
  const own = Object.freeze({ ...scope })
  reported.set(own, new Set())
  return own
}

/** Writes a line in the format of the server's default logger. */
function toStderr(level: string, msg: string, more: object): void {
  const record = { time: new Date().toISOString(), level, msg, ...more }
  process.stderr.write(`${JSON.stringify(record)}\n`)
}

const failureToStderr: FailureReport = ({ requestId, message, error, isWarning = false }) => {
  const { name, message: text } = error instanceof Error ? error : new Error(String(error))
  toStderr(isWarning ? 'warn' : 'error', message, { requestId, err: { name, message: text } })
}

/** The message of log records about a use of `asSystem`. */
export const SYSTEM_USE = 'asSystem'

const outside = new RequestContext()
