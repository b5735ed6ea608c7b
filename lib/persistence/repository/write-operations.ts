import type { RequestContext } from '../../context.js'
import { checkBatch, textOf } from '../contract/batch.js'
import { withFreshMint } from '../contract/credential-check.js'
import { withPaths } from '../../resource/typeorm/embedded.js'
import { hasOwnKey, keyMade, newEntity, type Values } from '../contract/new-entity.js'
import { insideMask, type InsideMask, replacedInside } from '../free-form/inside-mask.js'
import { forWrite } from '../contract/row-lock.js'
import { deletionOf, patchesOf, patchOf, restorationOf, serverSetValues } from '../contract/patch.js'
import type { OperationOptions } from '../contract/repository.js'
import { scopeOf } from '../contract/scope.js'
import { mint, protectNew } from '../contract/secret-fields.js'
import { notFound } from '../rows/misses.js'
import type { RowCall } from '../rows/row-call.js'
import { targetOf } from '../rows/row-target.js'
import { modify } from './modify.js'
import { purgeExpired } from './purge-expired.js'
import { READS } from './read-operations.js'
import type { OperationOf } from './repository-operation.js'
import type { Patch } from '../../resource/values/increment.js'
import type { Filter } from '../query/filter-template.js'
import type { Performers, RepositoryCore } from './performers.js'

type Writing =
  | 'create'
  | 'update'
  | 'modify'
  | 'delete'
  | 'undelete'
  | 'batchUpdate'
  | 'batchDelete'
  | 'remint'
  | 'purgeExpired'

/** The operations that write. They check their arguments before a transaction begins. */
export const WRITES: Performers<Writing> = {
  create: (core, { entity: input, options }) =>
    withNewCredentials(core, options, (minted) =>
      core.backend.operations.write('create', options, async (operation) => {
        const { model, options: given, backend } = core
        const { scope } = operation
        const hooksSetKey = backend.hooks.listensTo('BeforeInsert')
        const entity = newEntity(model, input, scope, given, backend.resource.rangeOf, hooksSetKey)
        const secrets = await protectNew(model, input as Values, given, scope.context)
        minted(secrets.columns)
        const own = model.embedded.length === 0 ? (entity as Values) : withPaths(model.embedded, entity)
        const values = { ...own, ...secrets.columns }
        await operation.refers(values)
        const isKeyMade = !hasOwnKey(model, input, given)
        const deferred = hooksSetKey && isKeyMade && { newKey: () => keyMade(model.key, given) }
        const write = { row: targetOf(model, values), values, isKeyMade, ...deferred }
        const isAtomic = !backend.rows.insertsAtOnce
        const created = await operation.send((call) => backend.rows.insert(call, write), { isAtomic })
        return Object.assign(created, secrets.tokens)
      }),
    ),

  update: (core, operation) => {
    const { model, options: own, backend, writer } = core
    const { key, patch: entity, mask, options } = operation
    const inside = model.hasFreeForm ? insideMask(model, mask) : undefined
    if (inside !== undefined) return updateInside(core, operation, inside)
    return backend.operations.write('update', options, async (writing) => {
      const { scope } = writing
      const patch = await patchOf(model, entity, mask, options, own, scope)
      await writing.refers(patch)
      const row = { key, scope, ifMatch: options?.ifMatch }
      return writing.send((call) => writer.update(call, row, patch))
    })
  },

  modify: ({ repository, backend }, { key, change, options }) =>
    modify(repository, backend.database, key, change, options),

  delete: async ({ model, options: own, backend, writer, family }, { key, options }) => {
    const together = family.deletes
    return backend.operations.write('delete', options, async (operation) => {
      const row = { key, scope: operation.scope, ifMatch: options?.ifMatch }
      const values = deletionOf(model, own)
      const remove = (call: Parameters<typeof writer.delete>[0]) =>
        (together ?? writer).delete(call, row, values, options)
      return operation.send(remove, { together })
    })
  },

  undelete: async ({ model, options: own, backend, writer, family }, { key, options }) => {
    const together = family.undeletes
    return backend.operations.write('undelete', options, async (operation) => {
      if (model.deleteTime === undefined) return notFound()
      const row = { key, scope: operation.scope, ifMatch: options?.ifMatch }
      const values = restorationOf(model, own)
      return operation.send((call) => (together ?? writer).undelete(call, row, values, options), { together })
    })
  },

  batchUpdate: async (core, { items, options }) => {
    const { model, options: own, backend, writer } = core
    const masks = items.map(({ fieldMask }) => insideMask(model, fieldMask))
    if (masks.some((mask) => mask !== undefined)) return updateManyInside(core, { items, options }, masks)
    const texts = items.map(({ key }) => textOf(model.keys, key))
    checkBatch(texts, 'requests', { unique: true })
    return backend.operations.write('batchUpdate', options, async (operation) => {
      const { scope } = operation
      const keyed = items.map((item, at) => ({ ...item, key: texts[at] ?? '' }))
      const patches = await patchesOf(model, keyed, options, own, scope)
      await operation.refers(...patches.map(({ patch }) => patch))
      return operation.send((call) => writer.updateMany(call, patches, scope, options?.maxBytes), {
        isAtomic: true,
      })
    })
  },

  batchDelete: async ({ model, options: own, backend, writer, family }, { keys, options }) => {
    const texts = keys.map((key) => textOf(model.keys, key))
    checkBatch(texts, 'ids', { unique: true })
    const together = family.deletes
    return backend.operations.write('batchDelete', options, async (operation) => {
      const values = deletionOf(model, own)
      const { scope } = operation
      const maxBytes = options?.maxBytes
      const remove = (call: Parameters<typeof writer.deleteMany>[0]) =>
        together === undefined
          ? writer.deleteMany(maxBytes === undefined ? call : { ...call, maxBytes }, texts, scope, values)
          : together.deleteMany(call, texts, scope, values, options)
      return operation.send(remove, { isAtomic: true, together })
    })
  },

  remint: (core, { credential, key, options }) =>
    withNewCredentials(core, options, (minted) =>
      core.backend.operations.write('remint', options, async (operation) => {
        const { model, options: own, writer } = core
        const { scope } = operation
        const { columns, tokens } = await mint(model, credential.property, own, scope.context)
        minted(columns)
        const patch = { ...columns, ...serverSetValues(model, own) }
        const several = !core.backend.rows.insertsAtOnce && { isAtomic: true }
        await operation.send((call) => writer.update(call, { key, scope }, patch), { ...several })
        return tokens[credential.property] as string
      }),
    ),

  purgeExpired: async ({ model, backend, family }, { before, options }) => {
    scopeOf(model, options)
    if (model.expireTime === undefined) return 0
    return purgeExpired(backend, family, before, options)
  },
}

/** Updates values inside JSON columns, after reading the rest of the JSON in the same transaction. */
const updateInside = <E extends object, C extends RowCall, X extends RequestContext>(
  core: RepositoryCore<E, C, X>,
  operation: OperationOf<'update', E>,
  { paths, mask }: InsideMask,
): Promise<E> =>
  core.backend.transaction(async (context) => {
    const { key, options } = operation
    const stored = await READS.get(core, {
      kind: 'get',
      key,
      options: { ...reachOf(options), context, ...forWrite },
    })
    const patch = replacedInside(operation.patch as Values, stored as Values, paths) as Patch<E>
    return WRITES.update(core, { ...operation, patch, mask, options: { ...options, context } })
  }, transactionOf(operation.options))

const updateManyInside = <E extends object, C extends RowCall, X extends RequestContext>(
  core: RepositoryCore<E, C, X>,
  { items, options }: Pick<OperationOf<'batchUpdate', E>, 'items' | 'options'>,
  masks: readonly (InsideMask | undefined)[],
): Promise<E[]> =>
  core.backend.transaction(async (context) => {
    const keys = items.flatMap(({ key }, at) => (masks[at] === undefined ? [] : [key]))
    const reach = { ...reachOf(options), context, ...forWrite }
    const read = await READS.batchGet(core, { kind: 'batchGet', keys, options: reach })
    const stored = new Map(read.map((entity) => [core.model.keys.textOf(entity), entity]))
    const changed = items.map((item, at) => {
      const mask = masks[at]
      if (mask === undefined) return item
      const held = stored.get(textOf(core.model.keys, item.key))
      const entity = replacedInside(item.entity as Values, held as Values, mask.paths)
      return { ...item, entity: entity as Patch<E>, fieldMask: mask.mask }
    })
    return WRITES.batchUpdate(core, {
      kind: 'batchUpdate',
      items: changed as never,
      options: { ...options, context },
    })
  }, transactionOf(options))

const reachOf = (options: { readonly where?: Filter } | undefined) =>
  options?.where === undefined ? {} : { where: options.where }

const transactionOf = (options: { readonly context?: RequestContext } | undefined) =>
  options?.context === undefined ? undefined : { context: options.context }

/** Runs a write that mints credentials. If a public id is already used, runs it again. */
const withNewCredentials = <E extends object, C extends RowCall, X extends RequestContext, T>(
  { model, backend }: RepositoryCore<E, C, X>,
  options: OperationOptions | undefined,
  attempt: (minted: (columns: Values) => void) => Promise<T>,
): Promise<T> =>
  withFreshMint(model, attempt, (field, publicId) => backend.isTaken(field, publicId, options?.context))
