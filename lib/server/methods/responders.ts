import { create, type DescMethod, type Message } from '@bufbuild/protobuf'
import { EmptySchema } from '@bufbuild/protobuf/wkt'
import { checkResponseBytes, readTooLarge, responseTooLarge } from '../../bounds/response-bytes.js'
import type { ServerCall } from '../../call.js'
import type { RequestContext } from '../../context.js'
import { InvalidArgument } from '../../errors.js'
import { Precondition } from '../../persistence/contract/precondition.js'
import type {
  BatchUpdateItem,
  RelatedAccess,
  RelatedOptions,
  Repository,
} from '../../persistence/contract/repository.js'
import { sizeIn } from '../../persistence/bytes/counted-bytes.js'
import { TooManyBytes } from '../../persistence/bytes/too-many-bytes.js'
import { kindOf } from '../../resource/kinds/kinds.js'
import { maskReader, requiredIn, stringReader } from '../../resource/messages/field-readers.js'
import { relationsNamed } from '../../persistence/relations/relations-named.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { EntityReply, type SingleReply } from '../chain/entity-reply.js'
import { methodOf, valueOf } from '../chain/method.js'
import type { FilterAccess } from '../chain/row-access.js'
import { conditional, conflictOf, firstThatHolds } from './etag-conditions.js'
import { entityForm, listForm } from './reply-forms.js'
import { updateOf } from './mask/named-properties.js'
import { listOptions, maskToWrite, putKey, relatedIn, withTokens } from './resource-request.js'
import { checkId, keyIn, keyInside, type Named, namedIn, namedInside } from './scope/names-in-requests.js'
import { type KeyShape, keyShape } from './scope/key-shape.js'
import { checkHeld, checkScope, heldIn, putScope, under } from './scope/path-scope.js'
import type { StandardMethod } from './standard-method.js'
import { type ListLimits, totalSize } from './total-size.js'

/** The inputs of a response apart from the request. */
export type Facts = Pick<ServerCall, 'context' | 'ifMatch' | 'ignoredMask'> &
  Pick<RelatedOptions, 'maxRows'> & {
    readonly related?: RelatedAccess | undefined
    /** For a list and a create. Omitted if the method never checks what else the caller may list. */
    readonly filterAccess?: FilterAccess | undefined
  }
/**
 * Runs a standard method on the repository.
 * @param repository - with the call's restrictions applied.
 */
export type Responder = (request: Message, facts: Facts, repository: AnyRepository) => Promise<SingleReply>
type AnyRepository = Repository<object>

type Responders = {
  readonly [K in StandardMethod['kind']]: (
    method: StandardMethod & { kind: K },
    desc: DescMethod,
    repository: AnyRepository,
    limits: ListLimits,
  ) => Responder
}

/** Compiles the response of a standard method, once for each method. */
export const responder = (
  method: StandardMethod,
  desc: DescMethod,
  repository: AnyRepository,
  limits: ListLimits,
): Responder => (RESPONDERS[method.kind] as AnyResponder)(method, desc, repository, limits)

type AnyResponder = typeof responder

const RESPONDERS: Responders = {
  get: ({ key, scope, name }, desc, { model }) => {
    const form = entityForm(model, desc.output)
    const keyOf = keyIn(model, key, name)
    return async (request, { context, ifMatch }, repository) => {
      const entity = await repository.get(keyOf(request), { context })
      if (scope.length > 0) checkScope(model, scope, request, entity)
      if (ifMatch !== undefined) Precondition.of(model, ifMatch)?.check(entity)
      return new EntityReply(form, entity)
    }
  },

  list: ({ items, has, scope, total }, desc, { model }, limits) => {
    const { maxPageBytes: maxBytes } = limits
    const form = listForm(model, desc.output, items, total)
    const namedIn = relationsNamed(model)
    return async (request, { context, filterAccess }, repository) => {
      const list = listOptions(request, has)
      const named = namedIn(list)
      const through = named.length === 0 ? undefined : await filterAccess?.through(named)
      const options = { context, ...under(model, scope, request), ...(through && { through }) }
      const page = await repository.list(list, { ...options, maxBytes })
      if (total === undefined) return new EntityReply(form, page)
      const { items: entities, nextPageToken } = page
      const totalOfPages = await totalSize(repository, page, list, options, limits)
      return new EntityReply(form, { items: entities, nextPageToken, total: totalOfPages })
    }
  },

  create: ({ resource, id, scope }, desc, unrestricted) => {
    const { model } = unrestricted
    const form = entityForm(model, desc.output)
    const hasTokens = model.credentials.length > 0
    const messageOf = requiredIn<Message>(resource)
    const shape = keyShape(desc.parent, model)
    return async (request, facts, repository) => {
      const message = messageOf(request)
      const entity = model.fromMessage(message)
      model.leaveToDefaults(entity)
      if (id !== undefined) {
        const given = String(valueOf(request, id) as string | number | bigint)
        if (model.name !== undefined && kindOf(model.key).isText) checkId(given, id.name)
        putKey(model, entity, given, id)
      }
      if (scope.length > 0) putScope(model, scope, request, { message, entity }, facts.context.tenant)
      const create = (context: RequestContext) => repository.create(entity, { context })
      const field = `${resource.name}.${model.key.proto}`
      const creating =
        shape === undefined
          ? create(facts.context)
          : createShaped(repository, entity, { create, context: facts.context }, shape, field)
      const created = await creating.catch(async (error: unknown) => {
        throw await conflictOf(error, unrestricted, model.keys.textOf(entity), facts)
      })
      return hasTokens ? withTokens(model, created) : new EntityReply(form, created)
    }
  },

  update: ({ resource, scope }, desc, { model }, { maxResponseBytes: maxBytes }) => {
    const form = entityForm(model, desc.output)
    const mask = methodOf(desc).updateMask
    const written = updateOf(model)
    const messageOf = requiredIn<Message>(resource)
    const keyOf = keyInside(model, resource)
    return async (request, facts, repository) => {
      const message = messageOf(request)
      const key = keyOf(message)
      if (scope.length > 0)
        await checkStored(repository, [{ key, held: heldIn(scope, request) }], facts, maxBytes)
      const asked = maskToWrite(mask?.(request) ?? [], facts.ignoredMask)
      const { entity, paths, touchOnly } = written(message, asked)
      const { context, ifMatch } = facts
      const conditions = ifMatch === undefined ? { context } : await conditional(repository, key, facts)
      const options = touchOnly ? { ...conditions, touchOnly } : conditions
      return new EntityReply(form, await repository.update(key, entity, paths, options))
    }
  },

  delete: ({ key, scope, name, force, startsOperation }, desc, { model }, { maxResponseBytes: maxBytes }) => {
    const response = startsOperation ? EmptySchema : desc.output
    const keyOf = keyIn(model, key, name)
    return async (request, facts, repository) => {
      const id = keyOf(request)
      if (scope.length > 0)
        await checkStored(repository, [{ key: id, held: heldIn(scope, request) }], facts, maxBytes)
      const conditions = await conditional(repository, id, facts)
      await repository.delete(id, { ...conditions, ...relatedIn(request, force, facts) })
      return create(response)
    }
  },

  undelete: ({ key, scope, name, force }, desc, { model }) => {
    const form = entityForm(model, desc.output)
    const keyOf = keyIn(model, key, name)
    return async (request, facts, repository) => {
      const id = keyOf(request)
      const restore = async (context: RequestContext) => {
        const conditions = { ...facts, context }
        const more = relatedIn(request, force, facts)
        const entity = await firstThatHolds(conditions, (options) =>
          repository.undelete(id, { ...options, ...more }),
        )
        checkScope(model, scope, request, entity)
        return entity
      }
      // A deleted row cannot be read beforehand. If it is outside the scope, the transaction is rolled back.
      if (scope.length === 0) return new EntityReply(form, await restore(facts.context))
      const inside = async (context: RequestContext) => model.toMessage(await restore(context))
      return repository.transaction(inside, { context: facts.context })
    }
  },

  batchGet: ({ keys, items, scope, name }, desc, { model }, { maxResponseBytes: maxBytes }) => {
    const form = listForm(model, desc.output, items)
    return async (request, facts, repository) => {
      const named = namedIn(model, request, keys, name, 'any')
      const ids = named.map(({ key }) => key)
      const options = { context: facts.context, maxBytes }
      const entities = await within(maxBytes, repository.batchGet(ids, options), responseTooLarge)
      for (const entity of entities) checkScope(model, scope, request, entity)
      checkAll(model, named, entities)
      checkRepeated(model, entities, maxBytes)
      return new EntityReply(form, { items: entities })
    }
  },

  batchUpdate: ({ requests, resource, items, scope }, desc, { model }, { maxResponseBytes: maxBytes }) => {
    const form = listForm(model, desc.output, items)
    const mask = maskReader(requests.message, 'update_mask')
    const written = updateOf(model)
    const requestId = stringReader(requests.message, 'request_id')
    const messageOf = requiredIn<Message>(resource)
    const namedOf = namedInside(model, resource)
    return async (request, facts, repository) => {
      const place = heldIn(scope, request)
      const stored: Named[] = []
      const updates = (valueOf(request, requests) as Message[]).map(
        (item, index): BatchUpdateItem<string, object> => {
          const at = `${requests.name}[${index}]`
          if ((requestId?.(item) ?? '') !== '')
            throw new InvalidArgument(
              `${at}.request_id`,
              'a batch runs once as a whole: send it beside the items',
            )
          const message = messageOf(item)
          const asked = { paths: mask?.(item) ?? [], touchOnly: false }
          const { entity, paths, touchOnly } = written(message, asked)
          const { key, held } = namedOf(message, `${at}.`)
          stored.push({ key, held: [...place, ...held] })
          // The etag inside an item's resource is not a precondition.
          return { key, entity, fieldMask: paths, ...(touchOnly && { touchOnly }) }
        },
      )
      await checkStored(repository, stored, facts, maxBytes)
      const { context } = facts
      const entities = await within(
        maxBytes,
        repository.batchUpdate(updates, { context, maxBytes }),
        responseTooLarge,
      )
      return new EntityReply(form, { items: entities })
    }
  },

  batchDelete:
    ({ keys, scope, name, force, startsOperation }, desc, { model }, { maxResponseBytes: maxBytes }) =>
    async (request, facts, repository) => {
      const place = heldIn(scope, request)
      const named = namedIn(model, request, keys, name, 'one')
      const stored = named.map(({ key, held }) => ({ key, held: [...place, ...held] }))
      await checkStored(repository, stored, facts, maxBytes)
      const options = { context: facts.context, maxBytes, ...relatedIn(request, force, facts) }
      await within(
        maxBytes,
        repository.batchDelete(
          named.map(({ key }) => key),
          options,
        ),
      )
      return create(startsOperation ? EmptySchema : desc.output)
    },
}

/**
 * Checks the total size of repeated entities. Each was read within the limit only once.
 * @throws ResourceExhausted if their copies exceed the limit.
 */
const checkRepeated = (model: ResourceModel, entities: readonly object[], maxBytes: number): void => {
  const sizes = new Map<object, number | undefined>()
  for (const entity of entities) sizes.set(entity, undefined)
  if (sizes.size === entities.length) return
  let total = 0
  for (const entity of entities) {
    let size = sizes.get(entity)
    if (size === undefined) sizes.set(entity, (size = sizeIn(model, entity)))
    checkResponseBytes((total += size), maxBytes)
  }
}

/**
 * Creates an entity whose key must match the format. A key that the repository generates is checked
 * afterwards.
 */
const createShaped = async (
  repository: AnyRepository,
  entity: object,
  { create, context }: Creating,
  shape: KeyShape,
  field: string,
): Promise<object> => {
  const { textOf: keyOf } = repository.model.keys
  if (keyOf(entity) !== '') {
    shape.check(keyOf(entity), field)
    return create(context)
  }
  return repository.transaction(
    async (inside) => {
      const created = await create(inside)
      shape.check(keyOf(created), field)
      return created
    },
    { context },
  )
}

/** The parameters of a create. */
interface Creating {
  readonly create: (context: RequestContext) => Promise<object>
  readonly context: RequestContext
}

/** Checks before a write that the stored entities have the parents that the request names. */
const checkStored = async (
  repository: AnyRepository,
  named: readonly Named[],
  { context }: Facts,
  maxBytes: number,
): Promise<void> => {
  if (named.every(({ held }) => held.length === 0)) return
  const keys = named.map(({ key }) => key)
  const entities = await within(maxBytes, repository.batchGet(keys, { context, maxBytes }))
  checkAll(repository.model, named, entities)
}

/** @throws ResourceExhausted with the limit if the result is larger. */
const within = <R>(maxBytes: number, reading: Promise<R>, tooLarge = readTooLarge): Promise<R> =>
  reading.catch((error: unknown) => {
    throw error instanceof TooManyBytes ? tooLarge(maxBytes) : error
  })

const checkAll = (model: ResourceModel, named: readonly Named[], entities: readonly object[]): void => {
  for (const [index, { held }] of named.entries()) checkHeld(model, held, entities[index] as object)
}
