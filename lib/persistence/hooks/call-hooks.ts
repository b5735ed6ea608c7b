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

/** The events before a write, and those after it. */
export interface WriteEvents {
  readonly before: HookEvent
  readonly after: HookEvent
}

/** The context of a write's transaction; on a database with TypeORM's manager in it. */
type Inside = RequestContext & { readonly manager?: EntityManager }

/** The number of transactions, or hooks, that may be inside of each other where a hook is called. */
const MAX_NESTED = 32

/** The events of each operation that writes. */
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

/** The hook events of a repository's operations. A purge has none. */
const WRITES: Readonly<Record<string, Write>> = {
  create: 'create',
  update: 'update',
  remint: 'update',
  batchUpdate: 'update',
  delete: 'delete',
  batchDelete: 'delete',
  undelete: 'undelete',
}

/** The entities in the results of operations that read. */
const LOADED: Readonly<Record<string, (result: unknown) => readonly object[]>> = {
  get: (entity) => [entity as object],
  lookup: (entity) => [entity as object],
  batchGet: (entities) => entities as readonly object[],
  list: (page) => (page as { readonly items: readonly object[] }).items,
}

/** The entities in what an operation has read. */
export const entitiesRead = (operation: string, result: unknown): readonly object[] =>
  LOADED[operation]?.(result) ?? []

/** The details that a subscriber receives besides the entity. */
export interface HookDetails {
  /** The row as it was before the write. */
  readonly stored?: object
  /** The properties that are written. */
  readonly changed?: readonly string[]
}

/** The subscribers that are called besides the listeners of the class. */
export interface Subscribers {
  readonly isSilent: boolean
  /** The events that a subscriber listens to; undefined while that is not known, and none is called. */
  readonly events: ReadonlySet<HookEvent> | undefined
  /** @param manager - in the transaction of the operation; undefined where there is none. */
  tell(
    event: HookEvent,
    entity: object,
    details: HookDetails,
    manager: EntityManager | undefined,
  ): Promise<void>
}

/** Gives TypeORM's manager in the transaction of an operation. */
export type ManagerOf = () => EntityManager | undefined

/**
 * Calls the hooks of one entity, one after another: the listeners of the class, then the subscribers of the
 * DataSource.
 */
export class Hooks<E extends object> {
  readonly events: ReturnType<typeof writeEvents>
  readonly #listeners = new Map<HookEvent, EntityListener['property'][]>()
  /** All events at which something is called, once they are known. */
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

  /** True if nothing is ever called. */
  get isSilent(): boolean {
    return this.#listeners.size === 0 && this.subscribers?.isSilent !== false
  }

  /** True if a subscriber receives more than the entity. */
  get passesDetails(): boolean {
    return this.subscribers?.isSilent === false
  }

  /** True if anything is called at the event. */
  listensTo(event: HookEvent): boolean {
    return (this.#heard ?? this.#find()).has(event)
  }

  #find(): ReadonlySet<HookEvent> {
    const reported = this.subscribers === undefined ? [] : this.subscribers.events
    const heard = new Set([...this.#listeners.keys(), ...(reported ?? [])])
    if (reported !== undefined) this.#heard = heard
    return heard
  }

  /** True if anything is called before or after the operation. */
  surround(operation: string): boolean {
    const name = WRITES[operation]
    return (
      name !== undefined &&
      (this.listensTo(this.events[name].before) || this.listensTo(this.events[name].after))
    )
  }

  /**
   * Calls what comes before a write, with the entity as it is to be stored.
   * @returns what the hooks have changed, by property.
   * @throws TypeError when that is more than the server may write.
   */
  async before(event: HookEvent, entity: E, inside: Inside, details: HookDetails = {}): Promise<Values> {
    if (!this.listensTo(event)) return {}
    const values = valuesOf(this.model, entity)
    await this.#enter(event, [entity], inside, details, () => inside.manager)
    return changesOf(this.model, values, entity, this.#named(event), event === 'BeforeInsert')
  }

  /** Calls what comes after a write; what it changes is not stored. */
  async after(event: HookEvent, entity: E, inside: Inside, details: HookDetails = {}): Promise<void> {
    if (this.listensTo(event)) await this.#enter(event, [entity], inside, details, () => inside.manager)
  }

  /** Calls it once for each entity. @returns undefined when there is nothing to wait for. */
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
      // Awaiting nothing would cost a turn for each call.
      const work = inside.run(() => inTurn(this.#calls(event, entities, details, managerOf, calls)))
      return work === undefined || calls === undefined ? work : abandoning(work, calls)
    } catch (error) {
      if (calls?.isRunning !== true) throw error
      return abandoning(Promise.reject(error as Error), calls)
    }
  }

  /** Yields what has to be awaited before the next one is called. */
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

/** Waits for the calls that a hook has left behind when it failed. */
async function abandoning(work: Promise<void>, calls: HookCalls): Promise<void> {
  try {
    await work
  } catch (error) {
    await calls.abandon()
    throw error
  }
}

/** Runs all steps; undefined when there was nothing to await. */
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

/** The error for a write's caller if a hook has failed and no database distinguishes failures. */
const hookFailure = (error: unknown): unknown =>
  error instanceof AshlarError || error instanceof TypeError ? error : new Internal(error)

/** Converts a failure of hooks into the error that callers receive. */
export const toCaller = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw hookFailure(error)
  })
