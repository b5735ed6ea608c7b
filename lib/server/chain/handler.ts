import {
  create,
  type DescMessage,
  type DescMethod,
  type DescService,
  isMessage,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf'
import type { RestrictedOperations, ServerCall } from '../../call.js'
import type { Repository } from '../../persistence/contract/repository.js'
import { withholding } from '../../resource/behavior/withhold-input-only.js'
import { isThenable } from '../../thenable.js'
import type { Call, Restrictions } from './call.js'
import { enter } from './enter.js'
import type { Next } from './interceptor.js'
import type { Named } from './named-errors.js'
import type { RowAccessUse } from './row-access.js'

/** The call object that handlers receive. */
export type HandledCall = ServerCall & Call & Restrictions

/** A method's implementation as the chain calls it. */
export interface Handler {
  /** True if it implements `validate_only`. Other handlers do not run for such a call. */
  readonly supportsValidateOnly: boolean
  /** True if it compares the etags of `If-Match`. Other handlers do not run for a call with `If-Match`. */
  readonly supportsIfMatch: boolean
  /**
   * True if it reads `validate_only` in nested requests, such as batch items. Other handlers reject such
   * calls.
   */
  readonly readsNestedValidateOnly: boolean
  /**
   * The way in which the handler applies a row-level decision. With `none`, the handler does not run for a
   * call that has one.
   */
  readonly rowAccess: RowAccessUse
  /**
   * The change it makes to related resources, for which the authorizer must allow each one; omitted if it
   * changes none.
   */
  readonly changesRelated?: 'delete' | 'undelete' | undefined
  /** True if it may write references to other resources. The authorizer must allow each reference. */
  readonly refers?: boolean | undefined
  /**
   * True if the authorizer may have to decide what the caller may list: for filters and sort orders that use
   * relations, and for deleted rows that may have a new key.
   */
  readonly asksLists?: boolean | undefined
  /**
   * Rejects a replay if the caller may not get the resource in the reply; omitted if this cannot be
   * determined.
   */
  checkReplay?(reply: Message, call: HandledCall): Promise<void>
  /** Returns the name of the request's subject, for error messages. Omitted if it cannot be determined. */
  readonly named?: Named | undefined
  /** Runs before a transaction is opened for the call; omitted if there is nothing to wait for. */
  readonly ahead?: ((call: HandledCall) => Promise<void>) | undefined
  readonly run: Next<HandledCall>
}

/** The function that you implement for one method. */
export type MethodHandler<M extends Pick<DescMethod, 'input' | 'output' | 'methodKind'>> =
  M['methodKind'] extends 'unary'
    ? (request: MessageShape<M['input']>, call: ServerCall) => MaybePromise<MessageInitShape<M['output']>>
    : M['methodKind'] extends 'server_streaming'
      ? (request: MessageShape<M['input']>, call: ServerCall) => AsyncIterable<MessageInitShape<M['output']>>
      : M['methodKind'] extends 'client_streaming'
        ? (
            requests: AsyncIterable<MessageShape<M['input']>>,
            call: ServerCall,
          ) => MaybePromise<MessageInitShape<M['output']>>
        : (
            requests: AsyncIterable<MessageShape<M['input']>>,
            call: ServerCall,
          ) => AsyncIterable<MessageInitShape<M['output']>>

/** One function per method of a service, named as in the generated code. */
export type Implementation<S extends DescService> = {
  [K in keyof S['method']]: MethodHandler<S['method'][K]>
}

/** @inline */
export type MaybePromise<T> = T | Promise<T>

export type AnyFunction = (request: unknown, call: ServerCall) => unknown

const marked = new WeakSet<object>()
const comparing = new WeakSet<object>()
const restricting = new WeakSet<object>()

/**
 * Marks a handler that reads `call.validateOnly` and writes nothing if it is true. The server also calls a
 * marked handler for `validate_only` requests.
 * @example
 * ```ts
 * import { InvalidArgument, type ServerCall, supportsValidateOnly } from 'ashlar'
 * import type { WidgetRepository } from './widget-repository.js'
 *
 * export const resize = (widgets: WidgetRepository) =>
 *   supportsValidateOnly(async ({ id, size }: { id: string; size: number }, call: ServerCall) => {
 *     if (size <= 0) throw new InvalidArgument('size', 'has to be positive')
 *     if (call.validateOnly) return widgets.model.toMessage({ ...(await widgets.get(id)), size })
 *     return widgets.model.toMessage(await widgets.update(id, { size }, ['size']))
 *   })
 * ```
 */
export const supportsValidateOnly = <F extends object>(handler: F): F => {
  marked.add(handler)
  return handler
}

/**
 * Marks a handler that reads `call.ifMatch` and does nothing if the etag does not match. The server also
 * calls a marked handler for requests with `If-Match`.
 * @example
 * ```ts
 * import { type ServerCall, supportsIfMatch } from 'ashlar'
 * import { ErrPreconditionFailed } from 'ashlar/persistence'
 * import type { WidgetRepository } from './widget-repository.js'
 *
 * export const retire = (widgets: WidgetRepository) =>
 *   supportsIfMatch(async ({ id }: { id: string }, { ifMatch }: ServerCall) => {
 *     const { etag } = await widgets.get(id)
 *     if (ifMatch !== undefined && !ifMatch.any && !ifMatch.etags.includes(etag)) throw ErrPreconditionFailed.etag()
 *     return widgets.model.toMessage(await widgets.retire(id))
 *   })
 * ```
 */
export const supportsIfMatch = <F extends object>(handler: F): F => {
  comparing.add(handler)
  return handler
}

/** A marked function and the repository that it names. */
export interface RestrictedTo {
  readonly repository: Repository<object>
  readonly fn: object
}

const restrictedTo = new WeakMap<object, RestrictedTo>()

/**
 * Marks a handler that accesses resources only through a restricted repository. The server also runs a marked
 * handler for calls with a row-level decision. Only methods with one request and one response can be marked.
 *
 * If you name the repository, the handler receives it with the call's restrictions: it cannot access rows
 * that the decisions about the call and about `get` exclude. If the handler uses several repositories, omit
 * the argument and call `call.restricted(repository)` for each. Any other access is not restricted.
 * @example
 * ```ts
 * import { supportsRowAccess } from 'ashlar'
 * import type { Widget as WidgetMessage } from './gen/widgets_pb.js'
 * import type { WidgetRepository } from './widget-repository.js'
 *
 * export const retire = (widgets: WidgetRepository) =>
 *   supportsRowAccess(widgets, async ({ id }: { id: string }, _call, restricted) =>
 *     widgets.model.toMessage<WidgetMessage>(await restricted.update(id, { size: 0 }, ['size'])),
 *   )
 * ```
 */
export function supportsRowAccess<F extends object>(handler: F): F
export function supportsRowAccess<R extends object, Request, Response>(
  repository: R,
  handler: (request: Request, call: ServerCall, restricted: RestrictedOperations<R>) => Response,
): (request: Request, call: ServerCall) => Response
export function supportsRowAccess(first: object, fn?: RestrictedFunction): object {
  if (fn === undefined) {
    restricting.add(first)
    return first
  }
  const handler = function (this: unknown, request: unknown, call: ServerCall): unknown {
    return fn.call(this, request, call, call.restricted(first))
  }
  for (const marks of [marked, comparing]) if (marks.has(fn)) marks.add(handler)
  restricting.add(handler)
  restrictedTo.set(handler, { repository: first as Repository<object>, fn })
  return handler
}

type RestrictedFunction = (
  this: unknown,
  request: unknown,
  call: ServerCall,
  restricted: RestrictedOperations<object>,
) => unknown

/** Returns the repository and the function, if the marked function names its repository. */
export const restrictedToOf = (handler: object): RestrictedTo | undefined => restrictedTo.get(handler)

/** Returns true if the function was marked with one of the `supports…` functions. */
export const isMarked = (fn: object): boolean => marked.has(fn) || comparing.has(fn) || restricting.has(fn)

/**
 * Converts your function to a handler. The function may return a plain object in the shape of the message.
 */
export const userHandler = (desc: DescMethod, fn: AnyFunction, self: unknown): Handler => ({
  supportsValidateOnly: marked.has(fn),
  supportsIfMatch: comparing.has(fn),
  readsNestedValidateOnly: marked.has(fn),
  rowAccess: restricting.has(fn) && desc.methodKind === 'unary' ? 'restricted' : 'none',
  refers: true,
  run: (call) => {
    const reply = enter(call.context, () => fn.call(self, call.request ?? call.requests, call))
    if (isAsyncIterable(reply)) return eachAsMessage(inContext(reply, call), desc)
    if (isThenable(reply)) return Promise.resolve(reply).then((value) => asMessage(value, desc))
    return asMessage(reply, desc)
  },
})

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

/**
 * Returns the value as a message of the method's output type.
 * @throws TypeError if it cannot be one.
 */
export const asMessage = (value: unknown, { output, parent, name }: DescMethod): Message => {
  const message = messageOf(value, output)
  const withhold = withholding(output)
  if (message !== undefined) return withhold === undefined ? message : withhold(message)
  throw new TypeError(`${parent.typeName}.${name} returned no ${output.typeName}`)
}

/** Returns the value, or a message created from a plain object; undefined for other values. */
export const messageOf = (value: unknown, desc: DescMessage): Message | undefined => {
  if (isMessage(value, desc)) return value
  if (typeof value !== 'object' || value === null) return undefined
  return create(desc, value as Record<string, unknown>)
}

async function* eachAsMessage(values: AsyncIterable<unknown>, desc: DescMethod): AsyncIterable<Message> {
  for await (const value of values) yield asMessage(value, desc)
}

/** A generator runs when it is read, so each step enters the call's context. */
const inContext = (values: AsyncIterable<unknown>, { context }: ServerCall): AsyncIterable<unknown> => ({
  [Symbol.asyncIterator]: () => {
    const iterator = values[Symbol.asyncIterator]()
    return {
      next: () => context.run(() => iterator.next()),
      return: (value?: unknown) =>
        context.run(async () => (await iterator.return?.(value)) ?? { done: true, value }),
    }
  },
})
