import type { Message, MessageInitShape } from '@bufbuild/protobuf'
import type { GenMessage } from '@bufbuild/protobuf/codegenv2'
import type { ServerCall } from '../../call.js'
import type { MaybePromise } from '../chain/handler.js'

/** Options for a wrapped method. */
export interface WrapOptions {
  /**
   * Runs your function in a transaction on the repository's database, which every repository call in it
   * joins. Default: false. Each call then has its own transaction, unless the request sets `validate_only`.
   */
  readonly transaction?: boolean
}

/**
 * Calls the repository's implementation of the method. You may call it with the request or a changed one, any
 * number of times.
 */
export type StandardCall<Request extends Message, Response extends Message> = (
  request: MessageInitShape<GenMessage<Request>>,
) => Promise<Response>

/** @inline */
type Wrapper<Request extends Message, Response> = (
  request: Request,
  call: ServerCall,
  standard: StandardCall<Request, Extract<Response, Message>>,
) => MaybePromise<Response>

/** A wrapped method without its types. */
export interface Wrap {
  readonly options: WrapOptions
  readonly fn: (
    request: Message,
    call: ServerCall,
    standard: (request: object) => Promise<Message>,
  ) => unknown
}

const wraps = new WeakMap<object, Wrap>()

/**
 * Runs code around a standard method instead of replacing it: before it, after it, or with a changed request
 * or result. An error that you throw rolls back the transaction. `If-Match` is compared before your function
 * runs. For `validate_only`, everything runs in a transaction that is rolled back, without `afterCommit`
 * callbacks.
 * @param fn - receives the request, the call and `standard`, which calls the repository's implementation in
 *   the current context, so that `RequestContext.asSystem` and nested transactions apply.
 * @returns a function for the implementation that is registered together with the repository. The server does
 *   not start if the repository does not implement the method.
 * @example
 * ```ts
 * import { InvalidArgument, ServerBuilder, wrapped } from 'ashlar'
 * import { WidgetService } from './gen/widgets_pb.js'
 * import type { WidgetRepository } from './widget-repository.js'
 *
 * export const builder = (widgets: WidgetRepository, notify: (id: string) => Promise<void>) =>
 *   new ServerBuilder({ grpcAddr: ':9090' }).register(WidgetService, widgets, {
 *     createWidget: wrapped({ transaction: true }, async (request, call, standard) => {
 *       if (request.widget?.displayName === '') throw new InvalidArgument('widget.display_name', 'is required')
 *       const widget = await standard(request)
 *       call.context.afterCommit(() => notify(widget.id))
 *       return widget
 *     }),
 *     retireWidget: async ({ id }) => widgets.model.toMessage(await widgets.retire(id)),
 *   })
 * ```
 */
export function wrapped<Request extends Message, Response>(
  options: WrapOptions,
  fn: Wrapper<Request, Response>,
): (request: Request, call: ServerCall) => MaybePromise<Response> {
  const handler = (): never => {
    throw new TypeError('a wrapped method must be registered together with its repository: a server calls it')
  }
  // The function is called only for its own method, whose type is unknown here.
  wraps.set(handler, { options, fn: fn as unknown as Wrap['fn'] })
  return handler
}

/** Returns the function and options of a wrapped method; undefined for other functions. */
export const wrapOf = (handler: object): Wrap | undefined => wraps.get(handler)
