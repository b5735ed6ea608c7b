import { create, type DescField, type DescMethod, type Message } from '@bufbuild/protobuf'
import { ErrPreconditionFailed, InvalidArgument } from '../errors.js'
import type { RequestContext } from '../context.js'
import {
  type BatchUpdateItem,
  type ListOptions,
  type OperationOptions,
  type Repository,
  TOUCH_ONLY,
  type WriteOptions,
} from '../persistence/repository.js'
import type { IfMatch, ServerCall } from './call.js'
import type { Handler } from './handler.js'
import type { Call } from './interceptor.js'
import { maskReader, methodOf, valueOf } from './method.js'
import type { StandardMethod } from './standard-method.js'

type Answer = (request: Message, call: ServerCall) => Promise<Message>
type AnyRepository = Repository<object>

/** Answers a standard method from a repository. Nothing here asks for the current context: it is handed on. */
export const repositoryHandler = (
  desc: DescMethod,
  method: StandardMethod,
  repository: AnyRepository,
): Handler => {
  const answer = (ANSWERS[method.kind] as AnyAnswers)(method, desc, repository)
  return {
    supportsValidateOnly: false,
    isUserCode: false,
    run: (call: ServerCall & Call) => answer(call.request as Message, call),
  }
}

type Answers = {
  readonly [K in StandardMethod['kind']]: (
    method: StandardMethod & { kind: K },
    desc: DescMethod,
    repository: AnyRepository,
  ) => Answer
}

type AnyAnswers = (method: StandardMethod, desc: DescMethod, repository: AnyRepository) => Answer

const ANSWERS: Answers = {
  get:
    ({ key }, _desc, repository) =>
    async (request, call) =>
      repository.model.toMessage(await repository.get(keyIn(request, key), of(call))),

  list: ({ items, has }, desc, repository) => {
    const { model } = repository
    return async (request, call) => {
      const page = await repository.list(listOptions(request, has), of(call))
      return create(desc.output, {
        [items.localName]: page.items.map((entity) => model.toMessage(entity)),
        nextPageToken: page.nextPageToken,
      })
    }
  },

  create: ({ resource, id }, _desc, repository) => {
    const { model } = repository
    return async (request, call) => {
      const entity = model.fromMessage(resourceIn(request, resource))
      if (id !== undefined) putKey(entity, model.key.property, valueOf(request, id) as string, id.name)
      return model.toMessage(await repository.create(entity, of(call)))
    }
  },

  update: ({ resource }, desc, repository) => {
    const { model } = repository
    const mask = methodOf(desc).updateMask
    return async (request, call) => {
      const message = resourceIn(request, resource)
      const key = keyOf(message, repository, resource)
      const paths = writable(mask?.(request) ?? [], call)
      const options = await conditional(repository, key, call)
      return model.toMessage(await repository.update(key, model.fromMessage(message), paths, options))
    }
  },

  delete:
    ({ key }, desc, repository) =>
    async (request, call) => {
      const id = keyIn(request, key)
      await repository.delete(id, await conditional(repository, id, call))
      return create(desc.output)
    },

  undelete:
    ({ key }, _desc, repository) =>
    async (request, call) => {
      const id = keyIn(request, key)
      return repository.model.toMessage(
        await repository.undelete(id, await conditional(repository, id, call)),
      )
    },

  batchGet:
    ({ keys, items }, desc, repository) =>
    async (request, call) => {
      const entities = await repository.batchGet(valueOf(request, keys) as string[], of(call))
      return create(desc.output, {
        [items.localName]: entities.map((entity) => repository.model.toMessage(entity)),
      })
    },

  batchUpdate: ({ requests, resource, items }, desc, repository) => {
    const { model } = repository
    const mask = maskReader(requests.message, 'update_mask')
    return async (request, call) => {
      const updates = (valueOf(request, requests) as Message[]).map(
        (item): BatchUpdateItem<string, object> => {
          const message = resourceIn(item, resource)
          const key = keyOf(message, repository, resource)
          return { key, entity: model.fromMessage(message), fieldMask: mask?.(item) ?? [] }
        },
      )
      const entities = await repository.batchUpdate(updates, of(call))
      return create(desc.output, { [items.localName]: entities.map((entity) => model.toMessage(entity)) })
    }
  },

  batchDelete:
    ({ keys }, desc, repository) =>
    async (request, call) => {
      await repository.batchDelete(valueOf(request, keys) as string[], of(call))
      return create(desc.output)
    },
}

const of = ({ context }: { readonly context: RequestContext }): OperationOptions => ({ context })

const keyIn = (request: Message, key: DescField): string => {
  const value = valueOf(request, key) as string
  if (value === '') throw new InvalidArgument(key.name, 'is required')
  return value
}

const resourceIn = (request: Message, field: DescField): Message => {
  const value = valueOf(request, field)
  if (value === undefined) throw new InvalidArgument(field.name, 'is required')
  return value as Message
}

const keyOf = (message: Message, { model }: AnyRepository, resource: DescField): string => {
  const field = model.message?.fields.find(({ name }) => name === model.key.proto)
  const value = field === undefined ? undefined : valueOf(message, field)
  if (typeof value !== 'string' || value === '') {
    throw new InvalidArgument(`${resource.name}.${model.key.proto}`, 'is required')
  }
  return value
}

/** `<resource>_id` names the new entity (AIP-133); one inside of the resource may only repeat it. */
const putKey = (entity: object, property: string, id: string, field: string): void => {
  const keyed = entity as Record<string, unknown>
  if (id === '') return
  const inside = keyed[property] ?? ''
  if (inside !== '' && inside !== id)
    throw new InvalidArgument(field, 'differs from the key inside of the resource')
  keyed[property] = id
}

const listOptions = (request: Message, has: (StandardMethod & { kind: 'list' })['has']): ListOptions => {
  const { pageSize, pageToken } = request as unknown as { pageSize: number; pageToken: string }
  return {
    pageSize,
    pageToken,
    ...(has.filter && { filter: valueOf(request, has.filter) as string }),
    ...(has.order_by && { orderBy: valueOf(request, has.order_by) as string }),
    ...(has.show_deleted && { showDeleted: valueOf(request, has.show_deleted) as boolean }),
    ...(has.q && { search: valueOf(request, has.q) as string }),
  }
}

/** The paths to write. Ignored ones are never what turns a mask into an empty one, which would be a full update. */
const writable = (paths: readonly string[], { ignoredMask }: ServerCall): readonly string[] => {
  if (ignoredMask.length === 0) return paths
  const rest = paths.filter((path) => !ignoredMask.includes(path))
  return rest.length === 0 ? TOUCH_ONLY : rest
}

/** The precondition as a repository takes it: one etag. */
const conditional = async (
  repository: AnyRepository,
  key: string,
  call: ServerCall,
): Promise<WriteOptions> => {
  const { ifMatch, context } = call
  const [etag, another] = ifMatch?.etags ?? []
  if (ifMatch === undefined || ifMatch.any || etag === undefined) return { context }
  if (another === undefined) return { context, ifMatch: etag }
  return { context, ifMatch: await currentOf(repository, key, ifMatch, context) }
}

/** Of several etags the one that is current; the write compares it again, in its own statement. */
const currentOf = async (
  repository: AnyRepository,
  key: string,
  { etags }: IfMatch,
  context: RequestContext,
): Promise<string> => {
  const { model } = repository
  const entity = (await repository.get(key, { context })) as Record<string, unknown>
  const current = model.etag === undefined ? undefined : entity[model.etag.property]
  const match = etags.find((etag) => etag === current)
  if (match === undefined) throw ErrPreconditionFailed.etag()
  return match
}
