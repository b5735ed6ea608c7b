import type { DescMethod, Message } from '@bufbuild/protobuf'
import type { ServerCall } from '../../call.js'
import { MAX_BATCH, type Repository } from '../../persistence/contract/repository.js'
import { maskReader } from '../../resource/messages/field-readers.js'
import type { Local } from '../../resource/messages/local-field.js'
import type { Call } from '../chain/call.js'
import type { Handler } from '../chain/handler.js'
import { methodOf, valueOf } from '../chain/method.js'
import type { StandardMethod } from './standard-method.js'

/**
 * Returns a function that encrypts the secrets in a request before a transaction is opened. Otherwise a call
 * that waits for an encryption server would hold a connection of the pool. Undefined for a method that writes
 * no secrets.
 */
export const secretsAhead = (
  desc: DescMethod,
  method: StandardMethod,
  repository: Repository<object>,
): Handler['ahead'] => {
  const { model, prepareSecrets } = repository
  if (model.secrets.length === 0 || prepareSecrets === undefined) return undefined
  const entitiesIn = readerOf(desc, method, repository)
  if (entitiesIn === undefined) return undefined
  const isBatch = method.kind === 'batchUpdate'
  return async ({ request, context }: ServerCall & Call) => {
    const entities = entitiesIn(request as Message)
    if (entities.length > 0) await prepareSecrets(entities, context, isBatch)
  }
}

/** Returns the handler's function, preceded by `ahead`. */
export const afterAhead = (ahead: Handler['ahead'], run: Handler['run']): Handler['run'] =>
  ahead === undefined
    ? run
    : async (call) => {
        await ahead(call)
        return run(call)
      }

type Prepare = NonNullable<Repository<object>['prepareSecrets']>
type EntityReader = (request: Message) => Parameters<Prepare>[0]

/**
 * Returns a reader for the secrets alone. The standard method converts the entity and reports missing fields.
 */
const readerOf = (
  desc: DescMethod,
  method: StandardMethod,
  { model }: Repository<object>,
): EntityReader | undefined => {
  const properties = model.secrets.map(({ property }) => property)
  const entityOf = (message: unknown): object | undefined =>
    message === undefined
      ? undefined
      : Object.fromEntries(properties.map((property) => [property, (message as Local)[property]]))
  switch (method.kind) {
    case 'create':
      return (request) => {
        const entity = entityOf(valueOf(request, method.resource))
        return entity === undefined ? [] : [{ entity }]
      }
    case 'update': {
      const { updateMask } = methodOf(desc)
      return (request) => {
        const entity = entityOf(valueOf(request, method.resource))
        return entity === undefined ? [] : [{ entity, fieldMask: updateMask?.(request) ?? [] }]
      }
    }
    case 'batchUpdate': {
      const mask = maskReader(method.requests.message, 'update_mask')
      return (request) => {
        const items = valueOf(request, method.requests) as readonly Message[]
        // The repository rejects such a batch.
        if (items.length > MAX_BATCH) return []
        const entities = items.map((item) => entityOf(valueOf(item, method.resource)))
        return entities.map((entity = {}, index) => ({
          entity,
          fieldMask: mask?.(items[index] as Message) ?? [],
        }))
      }
    }
    default:
      return undefined
  }
}
