import { RequestContext } from '../../context.js'
import { checkElements } from '../bytes/check-elements.js'
import { checkBatch, textOf } from '../contract/batch.js'
import { checkCredential } from '../contract/credential-check.js'
import { byKey } from '../contract/scope.js'
import { reveal } from '../contract/secret-fields.js'
import { DistributedMeanwhile } from '../engines/errors/citus-meanwhile.js'
import { isStorable } from '../query/reachable.js'
import { planCount, planPage } from '../relations/plan-page.js'
import { notFound } from '../rows/misses.js'
import { completed } from './completed.js'
import type { Performers } from './performers.js'

/** The operations that only read. */
export const READS: Performers<'get' | 'list' | 'count' | 'batchGet' | 'lookup' | 'reveal' | 'verify'> = {
  get: ({ backend, writer }, { key, options }) =>
    backend.operations.read('get', options, async (operation) => {
      const { call, scope, lock } = operation
      const row = writer.known({ key, scope }) ?? (await writer.search(call, { key, scope }))
      const entity = (await backend.rows.get(call, row, { lock })) ?? notFound()
      return completed(backend, 'get', operation, entity, options?.with, options)
    }),

  list: ({ model, options: own, backend }, { list, options }) =>
    backend.operations.read(
      'list',
      options,
      async ({ call: asked, scope, lock }) => {
        const paths = list.with
        const isAlone = paths === undefined || lock !== undefined
        const plan = planPage(model, list, scope, own, options)
        const read = async () => {
          const { call, kept } = isAlone
            ? { call: asked, kept: undefined }
            : backend.relations.pageOn(asked, paths, scope)
          const how = { lock, kept, maxBytes: options?.maxBytes }
          const page = await backend.list(call, plan, scope.tenant, how)
          return completed(backend, 'list', { call, scope, lock }, page, paths, options)
        }
        return read().catch((error: unknown) => {
          if (error instanceof DistributedMeanwhile) return read()
          throw error
        })
      },
      { mayLeaveOut: true },
    ),

  count: ({ model, backend }, { list, options = {} }) =>
    backend.operations.read('count', options, async ({ call, scope }) =>
      backend.count(call, planCount(model, list, scope, options), scope.tenant),
    ),

  batchGet: async ({ model, backend }, { keys, options }) => {
    const texts = keys.map((key) => textOf(model.keys, key))
    checkBatch(texts, 'ids', { unique: false })
    return backend.operations.read('batchGet', options, async (operation) => {
      const { call, scope, lock } = operation
      const known = [...new Set(texts.filter(model.keys.isKey))]
      const how = { lock, maxBytes: options?.maxBytes }
      const rows = await backend.rows.batchGet(call, known, scope, how)
      checkElements(model, rows, options?.maxBytes)
      const found = byKey(model, rows)
      const isWhole = options?.allowMissing !== true
      const entities = isWhole ? texts.map((key) => found.get(key) ?? notFound()) : rows
      return completed(backend, 'batchGet', operation, entities, options?.with, options)
    })
  },

  lookup: ({ backend }, { secret, hash, options }) =>
    backend.operations.read('lookup', options, async (operation) => {
      if (hash === '' || !isStorable(hash)) return notFound()
      const [first] = await backend.finds.find(operation.call, secret.hash, hash, operation.scope)
      const entity = first?.entity ?? notFound()
      return completed(backend, 'lookup', operation, entity, options?.with, options)
    }),

  reveal: async ({ model, options: own, backend, writer }, { secret, key, options }) => {
    const { stored, context } = await backend.operations.read('reveal', options, async ({ call, scope }) => {
      const row = await writer.target(call, { key, scope })
      const [found] = await backend.finds.find(call, model.key, row.key, row)
      return { stored: (found ?? notFound()).columns[secret.cipher.property], context: scope.context }
    })
    return reveal(stored, own, context)
  },

  /** Searches all tenants, because the stored record determines the tenant of the caller. */
  verify: async ({ model, options: own, backend }, { credential, token, options }) => {
    const scope = { context: options?.context ?? RequestContext.current(), tenant: undefined }
    return backend.operations.read(
      'verify',
      options,
      ({ call }) => {
        const find = (id: string) => backend.finds.find(call, credential.publicId, id, scope)
        const specs = backend.specsOf(call, credential)
        return checkCredential(model, credential, token, own, find, specs, scope.context)
      },
      { scope },
    )
  },
}
