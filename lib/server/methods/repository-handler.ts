import { create, type DescMethod, type Message } from '@bufbuild/protobuf'
import { RequestContext } from '../../context.js'
import { OperationSchema } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import type { Repository } from '../../persistence/contract/repository.js'
import { isChecked } from '../../resource/relations/relation.js'
import { messageOfReply } from '../chain/entity-reply.js'
import { restrictedTo } from '../chain/call.js'
import type { HandledCall, Handler } from '../chain/handler.js'
import type { RowAccessKind } from '../chain/row-access.js'
import { dryRun } from './dry-run.js'
import { concealed, keysIn, requestMasks } from './resource-request.js'
import { namedErrors } from '../chain/named-errors.js'
import { requestSubject } from './scope/request-subject.js'
import { type Responder, responder } from './responders.js'
import { afterAhead, secretsAhead } from './secrets-ahead.js'
import { changesRelated, type StandardMethod } from './standard-method.js'
import type { ListLimits } from './total-size.js'

type AnyRepository = Repository<object>

/**
 * Implements a standard method with a repository, which receives the call's context. The work of an operation
 * outlives its call and uses the context that is current when it runs.
 */
export const repositoryHandler = (
  desc: DescMethod,
  method: StandardMethod,
  repository: AnyRepository,
  limits: ListLimits,
): Handler => {
  const parts = restrictable(desc, method, repository, limits)
  const startsOperation = 'startsOperation' in method && method.startsOperation
  const verb = changesRelated(method)
  const ahead = secretsAhead(desc, method, repository)
  const checkMasks = requestMasks(desc, method, repository.model)
  const named = namedErrors(requestSubject(method, repository.model))
  return {
    supportsValidateOnly: true,
    supportsIfMatch: comparesEtags(method),
    readsNestedValidateOnly: false,
    rowAccess: rowAccessOf(method),
    checkReplay: parts.checkReplay,
    changesRelated: verb,
    asksLists: asksLists(method, repository),
    refers: refers(method, repository),
    named,
    ahead,
    run: afterAhead(ahead, (call: HandledCall) => {
      checkMasks?.(call)
      const { respond } = parts
      const isWhole = call.rowAccess === undefined && call.references === undefined
      const within = isWhole ? repository : parts.within(call)
      const request = call.request as Message
      if (!call.validateOnly)
        return startsOperation ? inOperation(call, within, respond) : respond(request, call, within)
      return dryRun(
        repository,
        call.context,
        async (context) => {
          const { ifMatch, ignoredMask, related, filterAccess } = call
          const facts = { context, ifMatch, ignoredMask, related, filterAccess }
          if (!startsOperation)
            return concealed(repository.model, messageOfReply(await respond(request, facts, within)), method)
          await respond(request, { ...facts, maxRows: MAX_IN_OPERATION }, within)
          return create(OperationSchema, { done: true })
        },
        verb === 'delete' ? NEWEST : {},
      )
    }),
  }
}

/** A single delete reads the newest committed rows, whatever isolation level the DataSource declares. */
const NEWEST = { isolation: 'read committed' } as const

/** The maximum number of rows that a method may write as an operation. */
const MAX_IN_OPERATION = 100_000

/** Runs the method as an operation that continues after the call. */
const inOperation = (call: HandledCall, repository: AnyRepository, respond: Responder): Promise<Message> => {
  const { ifMatch, ignoredMask, related } = call
  const request = call.request as Message
  return call.operations.start({}, async ({ signal }) =>
    messageOfReply(
      await respond(
        request,
        {
          context: RequestContext.current(),
          ifMatch,
          ignoredMask,
          related: related?.during(signal),
          maxRows: MAX_IN_OPERATION,
        },
        repository,
      ),
    ),
  )
}

/** Returns a handler that runs a standard method on its repository with each call's restrictions. */
export const restrictable = (
  desc: DescMethod,
  method: StandardMethod,
  repository: AnyRepository,
  limits: ListLimits,
) => {
  const use = rowAccessOf(method)
  return {
    respond: responder(method, desc, repository, limits),
    within: ({ rowAccess, references }: HandledCall): AnyRepository =>
      restrictedTo({ rowAccess, references }, repository, use),
    checkReplay: (reply: Message, call: HandledCall) => mayRepeat(repository, use, reply, call),
  }
}

/** @throws ErrNotFound if the reply contains an entity that the caller may not get, or may no longer get. */
export const mayRepeat = async (
  repository: AnyRepository,
  use: RowAccessKind,
  reply: Message,
  call: HandledCall,
): Promise<void> => {
  const keys = keysIn(reply, repository.model)
  await call.rowAccess?.restrict(repository, use).mustSee(keys, { context: call.context })
}

/** Returns how a standard method restricts its repository. */
export const rowAccessOf = ({ kind }: StandardMethod): 'reads' | 'writes' =>
  kind === 'get' || kind === 'list' || kind === 'batchGet' ? 'reads' : 'writes'

/**
 * Returns true if requests of the method can name relations of the resource, or a key that a deleted resource
 * has.
 */
export const asksLists = ({ kind }: StandardMethod, { model }: AnyRepository): boolean =>
  kind === 'list' ? model.relations.length > 0 : kind === 'create' && model.deleteTime !== undefined

/** Returns true if the method writes rows that may refer to other resources, or restores such rows. */
export const refers = ({ kind }: StandardMethod, { model }: AnyRepository): boolean =>
  REFERRING.has(kind) && model.relations.some(isChecked)

const REFERRING: ReadonlySet<StandardMethod['kind']> = new Set([
  'create',
  'update',
  'batchUpdate',
  'undelete',
])

/** Returns true if the method has one entity whose etag can be compared. */
export const comparesEtags = ({ kind }: StandardMethod): boolean => COMPARES_ETAGS.has(kind)

/** Methods of the other kinds have no such entity, or have several. */
const COMPARES_ETAGS: ReadonlySet<StandardMethod['kind']> = new Set(['get', 'update', 'delete', 'undelete'])
