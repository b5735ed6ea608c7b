import { create, type DescMessage, type DescMethod, type Message } from '@bufbuild/protobuf'
import { EmptySchema } from '@bufbuild/protobuf/wkt'
import { RequestContext } from '../../context.js'
import { InvalidArgument } from '../../errors.js'
import { OperationSchema } from '../../gen/google/longrunning/operations_pb.js'
import type {
  BatchUpdateItem,
  RelatedAccess,
  RelatedOptions,
  Repository,
} from '../../persistence/contract/repository.js'
import type { ServerCall } from '../../call.js'
import type { Handler } from '../chain/handler.js'
import { etagOfResource } from '../../if-match.js'
import { checkEtag, conditional, firstThatHolds } from './preconditions.js'
import type { Call } from '../chain/call.js'
import type { RowAccess, RowAccessKind } from '../chain/row-access.js'
import { requiredIn, stringReader } from '../../resource/messages/field-readers.js'
import { methodOf, valueOf } from '../chain/method.js'
import { maskReader } from '../../resource/messages/field-readers.js'
import { checkId, keyIn, keyInside, type Named, namedIn, namedInside } from './scope/names-in-requests.js'
import { checkHeld, checkScope, heldIn, putScope, under } from './scope/path-scope.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { dryRun } from './dry-run.js'
import { sparingImmutable } from './immutable-fields.js'
import {
  concealed,
  keysIn,
  listOptions,
  maskToWrite,
  putKey,
  relatedIn,
  withTokens,
} from './resource-request.js'
import { changesRelated, type StandardMethod } from './standard-method.js'
import { type ListLimits, totalSize } from './total-size.js'

/** What a response depends on besides the request. */
export type Facts = Pick<ServerCall, 'context' | 'ifMatch' | 'ignoredMask'> &
  Pick<RelatedOptions, 'mostRows'> & { readonly related: RelatedAccess | undefined }
export type Responder = (request: Message, facts: Facts) => Promise<Message>
type AnyRepository = Repository<object>

/** Implements a standard method with a repository. It never reads the current context: the call passes it. */
export const repositoryHandler = (
  desc: DescMethod,
  method: StandardMethod,
  repository: AnyRepository,
  limits: ListLimits,
): Handler => {
  const parts = restrictable(desc, method, repository, limits)
  const startsOperation = 'startsOperation' in method && method.startsOperation
  const verb = changesRelated(method)
  return {
    supportsValidateOnly: true,
    supportsIfMatch: comparesEtags(method),
    readsNestedValidateOnly: false,
    rowAccess: rowAccessOf(method),
    checkReplay: parts.checkReplay,
    changesRelated: verb,
    run: (call: ServerCall & Call) => {
      const { respond } = call.rowAccess === undefined ? parts.all : parts.of(call.rowAccess)
      const request = call.request as Message
      if (!call.validateOnly) return startsOperation ? inOperation(call, respond) : respond(request, call)
      const { ifMatch, ignoredMask, related } = call
      return dryRun(
        repository,
        call.context,
        async (context) => {
          const facts = { context, ifMatch, ignoredMask, related }
          if (!startsOperation) return concealed(repository.model, await respond(request, facts))
          await respond(request, { ...facts, mostRows: MOST_IN_OPERATION })
          return create(OperationSchema, { done: true })
        },
        verb === 'delete' ? NEWEST : {},
      )
    },
  }
}

/** A delete by itself sees what others have committed, whatever the DataSource declares. */
const NEWEST = { isolation: 'read committed' } as const

/** The most rows that a method writes which starts an operation. */
const MOST_IN_OPERATION = 100_000

/** Responds in an operation, which goes on after the call. */
const inOperation = (call: ServerCall & Call, respond: Responder): Promise<Message> => {
  const { ifMatch, ignoredMask, related } = call
  const request = call.request as Message
  return call.operations.start({}, ({ signal }) =>
    respond(request, {
      context: RequestContext.current(),
      ifMatch,
      ignoredMask,
      related: related?.during(signal),
      mostRows: MOST_IN_OPERATION,
    }),
  )
}

/** A repository, and what it returns for the method. */
interface Parts {
  readonly repository: AnyRepository
  readonly respond: Responder
}

/** A standard method on its repository, restricted for calls whose authorizer decided by row. */
export const restrictable = (
  desc: DescMethod,
  method: StandardMethod,
  repository: AnyRepository,
  limits: ListLimits,
) => {
  const use = rowAccessOf(method)
  const partsOf = (within: AnyRepository): Parts => ({
    repository: within,
    respond: (RESPONDERS[method.kind] as AnyResponders)(method, desc, within, limits),
  })
  const all = partsOf(repository)
  return {
    /** For every call that is not restricted. */
    all,
    of: (rowAccess: RowAccess): Parts => partsOf(rowAccess.restrict(repository, use)),
    checkReplay: (reply: Message, call: ServerCall & Call) => mayRepeat(repository, use, reply, call),
  }
}

/** @throws ErrNotFound for a reply with an entity that the caller may not get, or no longer. */
export const mayRepeat = async (
  repository: AnyRepository,
  use: RowAccessKind,
  reply: Message,
  call: ServerCall & Call,
): Promise<void> => {
  const keys = keysIn(reply, repository.model)
  await call.rowAccess?.restrict(repository, use).mustSee(keys, { context: call.context })
}

/** How a standard method restricts its repository. */
export const rowAccessOf = ({ kind }: StandardMethod): 'reads' | 'writes' =>
  kind === 'get' || kind === 'list' || kind === 'batchGet' ? 'reads' : 'writes'

/** Whether the method has one entity whose etag can be compared. */
export const comparesEtags = ({ kind }: StandardMethod): boolean => COMPARES_ETAGS.has(kind)

/** The other kinds have no entity to compare, or several. */
const COMPARES_ETAGS: ReadonlySet<StandardMethod['kind']> = new Set(['get', 'update', 'delete', 'undelete'])

type Responders = {
  readonly [K in StandardMethod['kind']]: (
    method: StandardMethod & { kind: K },
    desc: DescMethod,
    repository: AnyRepository,
    limits: ListLimits,
  ) => Responder
}

type AnyResponders = (
  method: StandardMethod,
  desc: DescMethod,
  repository: AnyRepository,
  limits: ListLimits,
) => Responder

const RESPONDERS: Responders = {
  get: ({ key, scope, name }, _desc, repository) => {
    const { model } = repository
    const keyOf = keyIn(key, name)
    return async (request, { context, ifMatch }) => {
      const entity = await repository.get(keyOf(request), { context })
      if (scope.length > 0) checkScope(model, scope, request, entity)
      if (ifMatch !== undefined) checkEtag(model, entity, ifMatch)
      return model.toMessage(entity)
    }
  },

  list: ({ items, has, scope, total }, desc, repository, limits) => {
    const { model } = repository
    return async (request, facts) => {
      const options = { context: facts.context, ...under(model, scope, request) }
      const list = listOptions(request, has)
      const page = await repository.list(list, options)
      const response = create(desc.output, {
        [items.localName]: page.items.map((entity) => model.toMessage(entity)),
        nextPageToken: page.nextPageToken,
      })
      if (total === undefined) return response
      const totalOfPages = await totalSize(repository, page, list, options, limits)
      return Object.assign(response, { [total.localName]: totalOfPages })
    }
  },

  create: ({ resource, id, scope }, _desc, repository) => {
    const { model } = repository
    const messageOf = requiredIn<Message>(resource)
    return async (request, facts) => {
      const entity = model.fromMessage(messageOf(request))
      model.leaveToDefaults(entity)
      if (id !== undefined) {
        const given = valueOf(request, id) as string
        if (model.name !== undefined) checkId(given, id.name)
        putKey(entity, model.key.property, given, id.name)
      }
      if (scope.length > 0) putScope(model, scope, request, entity, facts.context.tenant)
      return withTokens(model, await repository.create(entity, { context: facts.context }))
    }
  },

  update: ({ resource, scope }, desc, repository) => {
    const { model } = repository
    const mask = methodOf(desc).updateMask
    const spared = sparingImmutable(model)
    const messageOf = requiredIn<Message>(resource)
    const keyOf = keyInside(model, resource)
    return async (request, facts) => {
      const message = messageOf(request)
      const key = keyOf(message)
      if (scope.length > 0) await checkStored(repository, [{ key, held: heldIn(scope, request) }], facts)
      const entity = model.fromMessage(message)
      const { paths, touchOnly } = spared(maskToWrite(mask?.(request) ?? [], facts.ignoredMask), entity)
      const { context, ifMatch } = facts
      const conditions = ifMatch === undefined ? { context } : await conditional(repository, key, facts)
      const options = touchOnly ? { ...conditions, touchOnly } : conditions
      return model.toMessage(await repository.update(key, entity, paths, options))
    }
  },

  delete: ({ key, scope, name, force }, _desc, repository) => {
    const keyOf = keyIn(key, name)
    return async (request, facts) => {
      const id = keyOf(request)
      if (scope.length > 0) await checkStored(repository, [{ key: id, held: heldIn(scope, request) }], facts)
      const conditions = await conditional(repository, id, facts)
      await repository.delete(id, { ...conditions, ...relatedIn(request, force, facts) })
      return create(EmptySchema)
    }
  },

  undelete: ({ key, scope, name, force }, _desc, repository) => {
    const { model } = repository
    const keyOf = keyIn(key, name)
    return async (request, facts) => {
      const id = keyOf(request)
      const restore = async (context: RequestContext) => {
        const conditions = { ...facts, context }
        const more = relatedIn(request, force, facts)
        const entity = await firstThatHolds(conditions, (options) =>
          repository.undelete(id, { ...options, ...more }),
        )
        checkScope(model, scope, request, entity)
        return model.toMessage(entity)
      }
      // A deleted row cannot be read beforehand; outside of the scope, the transaction is rolled back.
      return scope.length === 0
        ? restore(facts.context)
        : repository.transaction(restore, { context: facts.context })
    }
  },

  batchGet:
    ({ keys, items, scope, name }, desc, repository) =>
    async (request, facts) => {
      const { model } = repository
      const named = namedIn(request, keys, name, 'any')
      const ids = named.map(({ key }) => key)
      const entities = await repository.batchGet(ids, { context: facts.context })
      for (const entity of entities) checkScope(model, scope, request, entity)
      checkAll(model, named, entities)
      return create(desc.output, { [items.localName]: entities.map((entity) => model.toMessage(entity)) })
    },

  batchUpdate: ({ requests, resource, items, scope }, desc, repository) => {
    const { model } = repository
    const mask = maskReader(requests.message, 'update_mask')
    const spared = sparingImmutable(model)
    const requestId = stringReader(requests.message, 'request_id')
    const etag = stringReader(resource.message as DescMessage, 'etag')
    const messageOf = requiredIn<Message>(resource)
    const namedOf = namedInside(model, resource)
    return async (request, facts) => {
      const place = heldIn(scope, request)
      const stored: Named[] = []
      const updates = (valueOf(request, requests) as Message[]).map(
        (item, index): BatchUpdateItem<string, object> => {
          const at = `${requests.name}[${index}]`
          if ((requestId?.(item) ?? '') !== '')
            throw new InvalidArgument(
              `${at}.request_id`,
              'a batch is run once as a whole: send it beside the items',
            )
          const message = messageOf(item)
          const ifMatch = etagOfResource(etag?.(message) ?? '', `${at}.${resource.name}.etag`)
          const entity = model.fromMessage(message)
          const { paths, touchOnly } = spared({ paths: mask?.(item) ?? [], touchOnly: false }, entity)
          const { key, held } = namedOf(message, `${at}.`)
          stored.push({ key, held: [...place, ...held] })
          return {
            key,
            entity,
            fieldMask: paths,
            ...(touchOnly && { touchOnly }),
            ...(ifMatch === undefined ? {} : { ifMatch }),
          }
        },
      )
      await checkStored(repository, stored, facts)
      const entities = await repository.batchUpdate(updates, { context: facts.context })
      return create(desc.output, { [items.localName]: entities.map((entity) => model.toMessage(entity)) })
    }
  },

  batchDelete:
    ({ keys, scope, name, force }, _desc, repository) =>
    async (request, facts) => {
      const place = heldIn(scope, request)
      const named = namedIn(request, keys, name, 'one')
      await checkStored(
        repository,
        named.map(({ key, held }) => ({ key, held: [...place, ...held] })),
        facts,
      )
      await repository.batchDelete(
        named.map(({ key }) => key),
        { context: facts.context, ...relatedIn(request, force, facts) },
      )
      return create(EmptySchema)
    },
}

/** Before a write: checks that the entities are where the request says. */
const checkStored = async (
  repository: AnyRepository,
  named: readonly Named[],
  facts: Facts,
): Promise<void> => {
  if (named.every(({ held }) => held.length === 0)) return
  const keys = named.map(({ key }) => key)
  checkAll(repository.model, named, await repository.batchGet(keys, { context: facts.context }))
}

const checkAll = (model: ResourceModel, named: readonly Named[], entities: readonly object[]): void => {
  for (const [index, { held }] of named.entries()) checkHeld(model, held, entities[index] as object)
}
