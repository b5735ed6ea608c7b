import type { RequestContext } from '../../context.js'
import { ErrPreconditionFailed } from '../../errors.js'
import { isOwning } from '../../resource/relations/relation.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { dependsOnStored } from '../../resource/values/kept-unread.js'
import type { Values } from '../contract/new-entity.js'
import { joined } from '../contract/open-transaction.js'
import { deletionOf, patchOf } from '../contract/patch.js'
import { type DeleteManyOptions, MAX_BATCH, type UpdateManyOptions } from '../contract/repository.js'
import { forWrite } from '../contract/row-lock.js'
import type { Scope } from '../contract/scope.js'
import type { Filter } from '../query/filter-template.js'
import { MAX_PAGE_SIZE } from '../query/page-size.js'
import { predicateOf } from '../query/predicate.js'
import { and, type FilterNode } from '../query/query-plan.js'
import type { RowCall } from '../rows/row-call.js'
import { ATTEMPTS, maskOf } from './modify.js'
import type { Performers, RepositoryCore } from './performers.js'
import { READS } from './read-operations.js'
import type { OperationOf } from './repository-operation.js'
import { WRITES } from './write-operations.js'

const DEFAULT_LIMIT = 1000

/** Limits the memory for a page of which only the keys are used. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024

type Batch = OperationOf<'batchUpdate' | 'batchDelete'>

/** Writes all rows that a filter matches, in one statement or in batches of keys in one transaction. */
export const MANY: Performers<'updateMany' | 'deleteMany'> = {
  updateMany: async (core, { filter, patch, options = {}, byKeys }) => {
    const { model, options: own, backend } = core
    const name = `${model.entity.name}.updateMany`
    const mask = maskOf(model, patch, options, name)
    if (mask.length === 0) throw new TypeError(`${name}: the patch has no properties`)
    const many = new ManyRows(core, name, filter, options)
    const isAlone = byKeys === undefined && !backend.hooks.surround('batchUpdate') && isPlain(model, patch)
    const valuesOf = (scope: Scope) => patchOf(model, patch, mask, options, own, scope)
    const written = isAlone ? await many.inOneStatement('update', valuesOf) : undefined
    if (written !== undefined) return written
    return many.byKeys((keys, context) => {
      const items = keys.map((key) => ({ key, entity: patch, fieldMask: mask }))
      const batch = { kind: 'batchUpdate', items, options: { ...options, context } } as const
      return byKeys?.(batch as Batch) ?? WRITES.batchUpdate(core, batch as never)
    })
  },

  deleteMany: async (core, { filter, options = {}, byKeys }) => {
    const { model, options: own, backend, family } = core
    const many = new ManyRows(core, `${model.entity.name}.deleteMany`, filter, options)
    const isAlone =
      byKeys === undefined && !backend.hooks.surround('batchDelete') && family.deletes === undefined
    const valuesOf = () => deletionOf(model, own)
    const written =
      isAlone && model.events === undefined ? await many.inOneStatement('delete', valuesOf) : undefined
    if (written !== undefined) return written
    return many.byKeys((keys, context) => {
      const batch = { kind: 'batchDelete', keys, options: { ...options, context } } as const
      return byKeys?.(batch) ?? WRITES.batchDelete(core, batch)
    })
  },
}

/** Returns true if one statement can write the same values to every row. */
function isPlain(model: ResourceModel, patch: object): boolean {
  const isWritten = (property: string) => Object.hasOwn(patch, property)
  const refers = model.relations.some(
    (relation) =>
      isOwning(relation) && (isWritten(relation.property) || isWritten(relation.reference.property)),
  )
  const isSecret = [...model.secrets, ...model.credentials].some(({ property }) => isWritten(property))
  return model.events === undefined && !refers && !isSecret
}

/** The live rows that a filter matches. */
class ManyRows<E extends object, C extends RowCall, X extends RequestContext> {
  readonly #limit: number
  readonly #named: FilterNode

  /**
   * @throws TypeError if the filter is blank, which would match every row, or if the limit is invalid.
   */
  constructor(
    private readonly core: RepositoryCore<E, C, X>,
    name: string,
    private readonly filter: Filter,
    private readonly options: UpdateManyOptions | DeleteManyOptions,
  ) {
    const { limit = DEFAULT_LIMIT } = options
    if (!(Number.isSafeInteger(limit) && limit > 0))
      throw new TypeError(`${name}: limit must be a positive integer, not ${limit}`)
    const named = predicateOf(core.model, filter)
    if (named === undefined)
      throw new TypeError(
        `${name}: the filter is blank. To match every row, compare the key: filter\`id > ""\``,
      )
    this.#limit = limit
    this.#named = named
  }

  /** Returns undefined if the backend has no such statement. */
  async inOneStatement(
    kind: 'update' | 'delete',
    valuesOf: (scope: Scope) => Values | Promise<Values>,
  ): Promise<number | undefined> {
    const { backend } = this.core
    const { writeWhere } = backend
    if (writeWhere === undefined) return undefined
    return backend.operations.write(`${kind}Many`, this.options, async (operation) => {
      const { tenant, where } = operation.scope
      const reach = { tenant, where: where === undefined ? this.#named : and(this.#named, where) }
      const values = await valuesOf(operation.scope)
      if (dependsOnStored(values)) return undefined
      const write = async (call: C) =>
        this.#checked(await writeWhere(call, kind, reach, values, this.#limit + 1))
      return operation.send(write, { isAtomic: true })
    })
  }

  /**
   * Writes the matching rows in batches of keys. Returns the number of rows.
   *
   * @param write - writes at most one batch.
   */
  byKeys(write: (keys: readonly unknown[], context: RequestContext) => Promise<unknown>): Promise<number> {
    const { backend } = this.core
    const { context } = this.options
    const isOutside = joined(backend.database, context) === undefined
    return backend.transaction(
      async (inside) => {
        const keys = await this.#keys(inside)
        for (let at = 0; at < keys.length; at += MAX_BATCH)
          await write(keys.slice(at, at + MAX_BATCH), inside)
        return keys.length
      },
      { ...(context !== undefined && { context }), ...(isOutside && { maxAttempts: ATTEMPTS }) },
    )
  }

  /** Returns the keys of the rows and locks the rows. */
  async #keys(context: RequestContext): Promise<unknown[]> {
    const { core, filter: under } = this
    const { where } = this.options
    const keys: unknown[] = []
    for (let pageToken = ''; ;) {
      const { items, nextPageToken } = await READS.list(core, {
        kind: 'list',
        list: { pageSize: MAX_PAGE_SIZE, pageToken },
        options: { context, under, ...(where && { where }), maxBytes: MAX_PAGE_BYTES, ...forWrite },
      })
      keys.push(...items.map((entity) => core.model.keys.ofEntity(entity)))
      this.#checked(keys.length)
      if (nextPageToken === '') return keys
      pageToken = nextPageToken
    }
  }

  #checked<N extends number | undefined>(count: N): N {
    if (count === undefined || count <= this.#limit) return count
    throw new ErrPreconditionFailed(undefined, [
      {
        kind: 'preconditionFailure',
        type: 'TOO_MANY_ROWS',
        subject: this.core.model.type,
        description: `the filter matches more than ${this.#limit} rows: narrow it, or raise the limit`,
      },
    ])
  }
}
