import type { EntityManager } from 'typeorm'
import type { RequestContext } from '../../context.js'
import { AshlarError, Internal } from '../../errors.js'
import type { EntityListener, HookEvent } from '../../resource/typeorm/declared-hooks.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { isThenable } from '../../thenable.js'
import type { Values } from '../contract/new-entity.js'
import type { HookCalls } from '../contract/hook-calls.js'
import { TransactionChain } from '../contract/open-transaction.js'
import { changesOf, valuesOf } from './changes.js'

/** The hook events before and after a write. */
export interface WriteEvents {
  readonly before: HookEvent
  readonly after: HookEvent
}

/** The context of a write's transaction, which has TypeORM's manager if there is a database. */
type Inside = RequestContext & { readonly manager?: EntityManager }

/** The maximum depth of nested transactions or hooks from which a hook is called. */
const MAX_NESTED = 32

/** Returns the events of each writing operation. */
export const writeEvents = ({ deleteTime }: ResourceModel) =>
  ({
    create: { before: 'BeforeInsert', after: 'AfterInsert' },
    update: { before: 'BeforeUpdate', after: 'AfterUpdate' },
    delete:
      deleteTime === undefined
        ? { before: 'BeforeRemove', after: 'AfterRemove' }
        : { before: 'BeforeSoftRemove', after: 'AfterSoftRemove' },
    undelete: { before: 'BeforeRecover', after: 'AfterRecover' },
  }) as const satisfies Record<string, WriteEvents>

type Write = keyof ReturnType<typeof writeEvents>

/** The write events of a repository's operations. A purge has none. */
const WRITES: Readonly<Record<string, Write>> = {
  create: 'create',
  update: 'update',
  remint: 'update',
  batchUpdate: 'update',
  delete: 'delete',
  batchDelete: 'delete',
  undelete: 'undelete',
}

/** Return the entities in the result of a reading operation. */
const LOADED: Readonly<Record<string, (result: unknown) => readonly object[]>> = {
  get: (entity) => [entity as object],
  lookup: (entity) => [entity as object],
  batchGet: (entities) => entities as readonly object[],
  list: (page) => (page as { readonly items: readonly object[] }).items,
}

/** Returns the entities that an operation has read. */
export const entitiesRead = (operation: string, result: unknown): readonly object[] =>
  LOADED[operation]?.(result) ?? []

/** The details that a subscriber receives in addition to the entity. */
export interface HookDetails {
  /** The entity before the write. */
  readonly stored?: object
  /** The written properties. */
  readonly changed?: readonly string[]
}

/** The DataSource's subscribers, which are called after the listeners of the class. */
export interface Subscribers {
  readonly isSilent: boolean
  /**
   * The events with a subscriber. While this is undefined, they are not yet known and no subscriber is
   * called.
   */
  readonly events: ReadonlySet<HookEvent> | undefined
  /**
   * Calls the subscribers of an event.
   *
   * @param manager - the manager of the operation's transaction. Undefined outside one.
   */
  tell(
    event: HookEvent,
    entity: object,
    details: HookDetails,
    manager: EntityManager | undefined,
  ): Promise<void>
}

/** Returns TypeORM's manager in the transaction of an operation. */
export type ManagerOf = () => EntityManager | undefined

/**
 * Calls the hooks of an entity one after another: the listeners of the class, then the DataSource's
 * subscribers.
 */
export class Hooks<E extends object> {
  readonly events: ReturnType<typeof writeEvents>
  readonly #listeners = new Map<HookEvent, EntityListener['property'][]>()
  /** The events with a hook, once they are known. */
  #heard: ReadonlySet<HookEvent> | undefined

  constructor(
    readonly model: ResourceModel<E>,
    private readonly subscribers?: Subscribers,
  ) {
    this.events = writeEvents(model)
    for (const { event, property } of model.listeners) {
      const known = this.#listeners.get(event)
      if (known === undefined) this.#listeners.set(event, [property])
      else known.push(property)
    }
  }

  /** True if no hook can ever be called. */
  get isSilent(): boolean {
    return this.#listeners.size === 0 && this.subscribers?.isSilent !== false
  }

  /** True if a subscriber receives details in addition to the entity. */
  get passesDetails(): boolean {
    return this.subscribers?.isSilent === false
  }

  /** Returns true if the event has a hook. */
  listensTo(event: HookEvent): boolean {
    return (this.#heard ?? this.#find()).has(event)
  }

  #find(): ReadonlySet<HookEvent> {
    const reported = this.subscribers === undefined ? [] : this.subscribers.events
    const heard = new Set([...this.#listeners.keys(), ...(reported ?? [])])
    if (reported !== undefined) this.#heard = heard
    return heard
  }

  /** Returns true if the operation has a hook before or after it. */
  surround(operation: string): boolean {
    const name = WRITES[operation]
    return (
      name !== undefined &&
      (this.listensTo(this.events[name].before) || this.listensTo(this.events[name].after))
    )
  }

  /**
   * Calls the hooks before a write with the entity to store.
   *
   * @returns the values that the hooks have changed, by property.
   * @throws TypeError if a hook changed a property that server code may not write.
   */
  async before(event: HookEvent, entity: E, inside: Inside, details: HookDetails = {}): Promise<Values> {
    if (!this.listensTo(event)) return {}
    const values = valuesOf(this.model, entity)
    await this.#enter(event, [entity], inside, details, () => inside.manager)
    return changesOf(this.model, values, entity, this.#named(event), event === 'BeforeInsert')
  }

  /** Calls the hooks after a write. Their changes of the entity are not stored. */
  async after(event: HookEvent, entity: E, inside: Inside, details: HookDetails = {}): Promise<void> {
    if (this.listensTo(event)) await this.#enter(event, [entity], inside, details, () => inside.manager)
  }

  /**
   * Calls the AfterLoad hooks for each entity.
   *
   * @returns undefined if there is nothing to wait for.
   */
  loaded(
    operation: string,
    result: unknown,
    inside: RequestContext,
    managerOf: ManagerOf = () => undefined,
  ): Promise<void> | undefined {
    const entities = entitiesRead(operation, result) as readonly E[]
    const each = entities.length > 1 ? new Set(entities) : entities
    return this.#enter('AfterLoad', each, inside, {}, managerOf)
  }

  #enter(
    event: HookEvent,
    entities: Iterable<E>,
    inside: RequestContext,
    details: HookDetails,
    managerOf: ManagerOf,
  ): Promise<void> | undefined {
    const chain = inside.transaction instanceof TransactionChain ? inside.transaction : undefined
    this.#checkDepth(event, chain)
    const calls = chain?.hookCalls
    try {
      // Return undefined instead of a promise if nothing is pending, because awaiting takes time in every
      // call.
      const work = inside.run(() => inTurn(this.#calls(event, entities, details, managerOf, calls)))
      return work === undefined || calls === undefined ? work : abandoning(work, calls)
    } catch (error) {
      if (calls?.isRunning !== true) throw error
      return abandoning(Promise.reject(error as Error), calls)
    }
  }

  /** Yields promises that must settle before the next hook is called. */
  *#calls(
    event: HookEvent,
    entities: Iterable<E>,
    details: HookDetails,
    managerOf: ManagerOf,
    calls: HookCalls | undefined,
  ): Generator<PromiseLike<unknown>, void> {
    for (const entity of entities) {
      for (const property of this.#listeners.get(event) ?? []) {
        const done = calledOn(entity, property)
        if (isThenable(done)) yield done
        if (calls?.isRunning === true) yield calls.refuse(this.#named(event))
      }
      if (this.subscribers?.events?.has(event) !== true) continue
      yield this.subscribers.tell(event, entity, details, managerOf())
      if (calls?.isRunning === true) yield calls.refuse(`a subscriber to ${this.model.entity.name}`)
    }
  }

  #checkDepth(event: HookEvent, chain: TransactionChain | undefined): void {
    const { depth = 0, hookDepth = 0 } = chain ?? {}
    const inside = depth > MAX_NESTED ? 'transactions' : hookDepth > MAX_NESTED ? 'hooks' : undefined
    if (inside === undefined) return
    throw new TypeError(
      `${this.#named(event)} is nested in ${MAX_NESTED} ${inside}: a hook makes a call that calls the hook again, without end`,
    )
  }

  #named(event: HookEvent): string {
    return `@${event}() of ${this.model.entity.name}`
  }
}

/** Waits for the calls that a failed hook left running. */
async function abandoning(work: Promise<void>, calls: HookCalls): Promise<void> {
  try {
    await work
  } catch (error) {
    await calls.abandon()
    throw error
  }
}

/** Runs all steps. Returns undefined if there is nothing to wait for. */
const inTurn = (steps: Iterator<PromiseLike<unknown>>): Promise<void> | undefined => {
  const first = steps.next()
  return first.done === true ? undefined : finish(first.value, steps)
}

async function finish(first: PromiseLike<unknown>, steps: Iterator<PromiseLike<unknown>>): Promise<void> {
  await first
  for (let step = steps.next(); step.done !== true; step = steps.next()) await step.value
}

const calledOn = (entity: object, property: PropertyKey): unknown => {
  const hook = (entity as Readonly<Record<PropertyKey, unknown>>)[property]
  if (typeof hook !== 'function')
    throw new TypeError(
      `${String(property)} of ${entity.constructor.name} is declared as a hook, but is not a method`,
    )
  return hook.call(entity) as unknown
}

/** Returns the caller's error for a failed hook, without a database's classification of errors. */
const hookFailure = (error: unknown): unknown =>
  error instanceof AshlarError || error instanceof TypeError ? error : new Internal(error)

/** Converts a failure of hooks into the error that callers receive. */
export const toCaller = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw hookFailure(error)
  })
