import type {
  DataSource,
  EntityManager,
  EntityMetadata,
  EntitySubscriberInterface,
  ObjectLiteral,
  QueryRunner,
  UpdateEvent,
} from 'typeorm'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { HookEvent } from '../../resource/typeorm/declared-hooks.js'
import type { HookDetails, Subscribers } from '../hooks/call-hooks.js'

type Subscriber = EntitySubscriberInterface<object>

/** The properties that TypeORM's events have in common. */
type Reported = Omit<UpdateEvent<object>, 'databaseEntity' | 'entity'> & {
  readonly entity: object
  readonly databaseEntity: object | undefined
  readonly entityId: ObjectLiteral
}

const METHODS = {
  AfterLoad: 'afterLoad',
  BeforeInsert: 'beforeInsert',
  AfterInsert: 'afterInsert',
  BeforeUpdate: 'beforeUpdate',
  AfterUpdate: 'afterUpdate',
  BeforeRemove: 'beforeRemove',
  AfterRemove: 'afterRemove',
  BeforeSoftRemove: 'beforeSoftRemove',
  AfterSoftRemove: 'afterSoftRemove',
  BeforeRecover: 'beforeRecover',
  AfterRecover: 'afterRecover',
} as const satisfies Record<HookEvent, keyof Subscriber>

/** Calls a DataSource's subscribers for one entity, as TypeORM does but one after another. */
export class EntitySubscribers implements Subscribers {
  #found: readonly Subscriber[] | undefined
  #events: ReadonlySet<HookEvent> | undefined

  constructor(
    private readonly dataSource: DataSource,
    private readonly model: ResourceModel,
  ) {}

  /** False before the DataSource is initialized, because its subscribers are not known yet. */
  get isSilent(): boolean {
    return this.dataSource.isInitialized && this.#all().length === 0
  }

  get events(): ReadonlySet<HookEvent> | undefined {
    if (!this.dataSource.isInitialized) return undefined
    const events = Object.keys(METHODS) as HookEvent[]
    const hasMethod = (event: HookEvent) => this.#all().some((one) => one[METHODS[event]] !== undefined)
    return (this.#events ??= new Set(events.filter(hasMethod)))
  }

  async tell(
    event: HookEvent,
    entity: object,
    details: HookDetails,
    manager: EntityManager | undefined,
  ): Promise<void> {
    const method = METHODS[event]
    const hearing = this.#all().filter((subscriber) => subscriber[method] !== undefined)
    // Outside a transaction, subscribers get a query runner that takes a connection on first use.
    const own = manager === undefined ? this.dataSource.createQueryRunner('master') : undefined
    try {
      const reported = this.#event(entity, details, manager ?? (own as QueryRunner).manager)
      for (const subscriber of hearing)
        if (method === 'afterLoad') await subscriber.afterLoad?.(entity, reported)
        // TypeORM's types require the row, although it may be missing.
        else await subscriber[method]?.(reported as never)
    } finally {
      await own?.release()
    }
  }

  #all(): readonly Subscriber[] {
    if (this.#found !== undefined) return this.#found
    if (!this.dataSource.isInitialized) return []
    const { entity } = this.model
    this.#found = this.dataSource.subscribers.filter((subscriber) =>
      listensTo(subscriber.listenTo?.() as unknown, entity),
    )
    return this.#found
  }

  #event(entity: object, { stored, changed }: HookDetails, manager: EntityManager): Reported {
    const metadata: EntityMetadata = this.dataSource.getMetadata(this.model.entity)
    const entityId = metadata.getEntityIdMixedMap(stored ?? entity) as ObjectLiteral
    return {
      dataSource: this.dataSource,
      connection: this.dataSource,
      queryRunner: manager.queryRunner as QueryRunner,
      manager,
      entity,
      metadata,
      databaseEntity: stored,
      updatedColumns: metadata.columns.filter(({ propertyName }) => changed?.includes(propertyName) === true),
      updatedRelations: [],
      entityId,
    }
  }
}

/** Returns true for an entity that the subscriber listens to, or a subclass of it, as TypeORM does. */
export const listensTo = (target: unknown, entity: { readonly name: string }): boolean =>
  typeof target === 'function'
    ? target === entity || Object.prototype.isPrototypeOf.call(target, entity)
    : target === entity.name
