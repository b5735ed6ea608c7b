import type { DescMessage, DescMethod, Message } from '@bufbuild/protobuf'
import type { IfMatch } from '../../call.js'
import { RequestContext } from '../../context.js'
import { ErrNotFound } from '../../errors.js'
import { parseIfMatch } from '../../if-match.js'
import { Precondition } from '../../persistence/contract/precondition.js'
import type { ReadOptions, Repository } from '../../persistence/contract/repository.js'
import { forWrite } from '../../persistence/contract/row-lock.js'
import { enter } from '../chain/enter.js'
import { messageOfReply } from '../chain/entity-reply.js'
import { asMessage, type HandledCall, type Handler, isMarked, messageOf } from '../chain/handler.js'
import { type Reader, requiredIn } from '../../resource/messages/field-readers.js'
import { methodOf } from '../chain/method.js'
import { dryRun } from './dry-run.js'
import { checkScope } from './scope/path-scope.js'
import { deletedEntity } from './etag-conditions.js'
import { comparesEtags, asksLists, restrictable, rowAccessOf } from './repository-handler.js'
import { keyIn, keyInside } from './scope/names-in-requests.js'
import { concealed, requestMasks } from './resource-request.js'
import { namedErrors } from '../chain/named-errors.js'
import { requestSubject } from './scope/request-subject.js'
import { afterAhead, secretsAhead } from './secrets-ahead.js'
import { changesRelated, type StandardMethod } from './standard-method.js'
import type { ListLimits } from './total-size.js'
import type { Wrap } from './wrapped.js'

/** Explains why the function cannot be wrapped; undefined if it can. */
export const wrapProblem = (handler: object, { fn }: Wrap): string | undefined =>
  isMarked(handler) || isMarked(fn)
    ? 'is wrapped, which handles validate_only, If-Match and row-level decisions: remove supportsValidateOnly, supportsIfMatch and supportsRowAccess'
    : undefined

/**
 * Returns a handler that runs the function around a standard method.
 * @param self - `this` of the function.
 */
export const wrappedHandler = (
  desc: DescMethod,
  method: StandardMethod,
  repository: Repository<object>,
  limits: ListLimits,
  { options, fn }: Wrap,
  self: unknown,
): Handler => {
  const parts = restrictable(desc, method, repository, limits)
  const ahead = secretsAhead(desc, method, repository)
  const checkMasks = requestMasks(desc, method, repository.model)
  const named = namedErrors(requestSubject(method, repository.model))
  const { requestEtag } = methodOf(desc)
  const keyOf = keyReader(repository, method)

  const run = async (call: HandledCall, isLocking: boolean): Promise<Message> => {
    const { ifMatch, ignoredMask, related, filterAccess } = call
    const { respond } = parts
    const within = parts.within(call)
    const given = call.request as Message
    const givenEtag = requestEtag?.(given)
    // An error that the function itself throws may concern another resource.
    const fail = (error: unknown, request: Message): never => {
      throw named?.(error, request) ?? error
    }
    await checkPrecondition(within, method, keyOf, given, call, isLocking).catch((error: unknown) =>
      fail(error, given),
    )
    // After the call has written the row, the etag differs from the client's, so it is compared only once.
    let isCompared = isLocking
    const standard = async (value: object): Promise<Message> => {
      const request = asRequest(value, desc.input)
      const etag = requestEtag?.(request) ?? ''
      const own = etag === '' || etag === givenEtag ? undefined : parseIfMatch(etag, 'etag')
      const asked = {
        context: RequestContext.current(),
        ...{ ignoredMask, related, filterAccess },
        ifMatch: own ?? (isCompared ? undefined : ifMatch),
      }
      const reply = await respond(request, asked, within).catch((error: unknown) => fail(error, request))
      isCompared = true
      return messageOfReply(reply)
    }
    return asMessage(await fn.call(self, given, call, standard), desc)
  }

  /**
   * Runs the function in a context. During that time the call has this context too, which knows the open
   * transaction.
   */
  const inside = async (call: HandledCall, context: RequestContext, isLocking = true): Promise<Message> => {
    const outside = call.context
    call.context = context
    try {
      return await run(call, isLocking)
    } finally {
      call.context = outside
    }
  }

  return {
    supportsValidateOnly: true,
    supportsIfMatch: comparesEtags(method),
    readsNestedValidateOnly: false,
    rowAccess: rowAccessOf(method) === 'reads' ? 'wrapsRead' : 'writes',
    checkReplay: parts.checkReplay,
    changesRelated: changesRelated(method),
    asksLists: asksLists(method, repository),
    refers: true,
    ahead,
    run: afterAhead(ahead, (call) => {
      checkMasks?.(call)
      const { context } = call
      if (call.validateOnly)
        return dryRun(repository, context, async (within) =>
          concealed(repository.model, await inside(call, within), method),
        )
      if (options.transaction === true)
        return repository.transaction((within) => inside(call, within), { context })
      return enter(context, () => inside(call, RequestContext.current(), false))
    }),
  }
}

/**
 * Compares the etag before the application's code runs.
 * @param isLocking - prevents concurrent changes to the entity while the transaction is open.
 * @throws the error of the standard method.
 */
const checkPrecondition = async (
  repository: Repository<object>,
  method: StandardMethod,
  keyOf: Reader<string> | undefined,
  request: Message,
  { context, ifMatch }: { readonly context: RequestContext; readonly ifMatch: IfMatch | undefined },
  isLocking: boolean,
): Promise<void> => {
  if (ifMatch === undefined || keyOf === undefined) return
  const { model } = repository
  const key = keyOf(request)
  const options: ReadOptions = { context, ...(isLocking && forWrite) }
  const entity =
    method.kind === 'undelete'
      ? await deletedEntity(repository, key, options)
      : await repository.get(key, options)
  if (entity === undefined) throw new ErrNotFound()
  checkScope(model, method.scope, request, entity)
  Precondition.of(model, ifMatch)?.check(entity)
}

/** Returns a reader for the key of the request's only resource; undefined if there is none or several. */
const keyReader = ({ model }: Repository<object>, method: StandardMethod): Reader<string> | undefined => {
  switch (method.kind) {
    case 'get':
    case 'delete':
    case 'undelete':
      return keyIn(model, method.key, method.name)
    case 'update': {
      const messageOf = requiredIn<Message>(method.resource)
      const keyOf = keyInside(model, method.resource)
      return (request) => keyOf(messageOf(request))
    }
    default:
      return undefined
  }
}

const asRequest = (value: unknown, input: DescMessage): Message => {
  const message = messageOf(value, input)
  if (message === undefined) throw new TypeError(`standard() takes a ${input.typeName}: pass it the request`)
  return message
}
