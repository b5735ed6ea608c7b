import type { RequestContext } from '../../context.js'
import type {
  BatchGetOptions,
  BatchUpdateItem,
  BatchUpdateOptions,
  CountOptions,
  DeleteOptions,
  FilterScope,
  ListFilter,
  ListOptions,
  ListScope,
  ModifyOptions,
  OperationOptions,
  Page,
  ReadOptions,
  ReadTogether,
  Repository,
  TransactionOptions,
  UndeleteOptions,
  UpdateOptions,
} from '../../persistence/contract/repository.js'
import type { ReferringOptions } from '../../persistence/contract/related-options.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Referring } from './referring.js'

/** A repository as a function of the application may use it, whose caller may not refer to everything. */
export class ReferringRepository implements Repository<object> {
  readonly model: ResourceModel

  /** @param within - the repository, restricted where the authorizer decided by row. */
  constructor(
    private readonly within: Repository<object>,
    private readonly referring: Referring,
  ) {
    this.model = within.model
  }

  create(entity: object, options: OperationOptions & ReferringOptions = {}): Promise<object> {
    return this.referring.run({ operation: 'create', named: () => [entity] }, options, (asked) =>
      this.within.create(entity, asked),
    )
  }

  update(
    key: string,
    entity: object,
    fieldMask?: readonly string[],
    options: UpdateOptions = {},
  ): Promise<object> {
    return this.referring.run({ operation: 'update', named: () => [entity] }, options, (asked) =>
      this.within.update(key, entity, fieldMask, asked),
    )
  }

  modify(
    key: string,
    change: (current: object) => object | Promise<object>,
    options: ModifyOptions = {},
  ): Promise<object> {
    let patch: object = {}
    const watched = async (current: object) => (patch = await change(current))
    return this.referring.run({ operation: 'update', named: () => [patch], isLate: true }, options, (asked) =>
      this.within.modify(key, watched, asked),
    )
  }

  batchUpdate(
    items: readonly BatchUpdateItem<string, object>[],
    options: BatchUpdateOptions = {},
  ): Promise<object[]> {
    const named = () => items.map(({ entity }) => entity)
    return this.referring.run({ operation: 'batchUpdate', named }, options, (asked) =>
      this.within.batchUpdate(items, asked),
    )
  }

  get(key: string, options?: ReadOptions): Promise<object> {
    return this.within.get(key, options)
  }

  list(list?: ListOptions & ReadTogether<string>, options?: ListScope): Promise<Page<object>> {
    return this.within.list(list, options)
  }

  count(list?: ListFilter, options?: CountOptions): Promise<number> {
    return this.within.count(list, options)
  }

  exists(list?: ListFilter, options?: FilterScope): Promise<boolean> {
    return this.within.exists(list, options)
  }

  batchGet(keys: readonly string[], options?: BatchGetOptions): Promise<object[]> {
    return this.within.batchGet(keys, options)
  }

  delete(key: string, options?: DeleteOptions): Promise<void> {
    return this.within.delete(key, options)
  }

  undelete(key: string, options: UndeleteOptions = {}): Promise<object> {
    return this.referring.run({ operation: 'undelete', named: () => [] }, options, (asked) =>
      this.within.undelete(key, asked),
    )
  }

  batchDelete(keys: readonly string[], options?: DeleteOptions): Promise<void> {
    return this.within.batchDelete(keys, options)
  }

  purgeExpired(before: Date, options?: OperationOptions): Promise<number> {
    return this.within.purgeExpired(before, options)
  }

  transaction<R>(fn: (context: RequestContext) => Promise<R>, options?: TransactionOptions): Promise<R> {
    return this.within.transaction(fn, options)
  }
}
