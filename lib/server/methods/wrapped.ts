import type { Message, MessageInitShape } from '@bufbuild/protobuf'
import type { GenMessage } from '@bufbuild/protobuf/codegenv2'
import type { ServerCall } from '../../call.js'
import type { MaybePromise } from '../chain/handler.js'

/** Options of a wrapped method. */
export interface WrapOptions {
  /**
   * Runs your function in a transaction on the repository's database, which every repository call in it
   * joins. False by default: each call is a transaction of its own, unless the request sets `validate_only`.
   */
  readonly transaction?: boolean
}

/**
 * The repository's implementation of the method. Call it with the request or a changed one, several times or
 * not at all.
 */
export type StandardCall<Request extends Message, Response extends Message> = (
  request: MessageInitShape<GenMessage<Request>>,
) => Promise<Response>

type Wrapper<Request extends Message, Response> = (
  request: Request,
  call: ServerCall,
  standard: StandardCall<Request, Extract<Response, Message>>,
) => MaybePromise<Response>

/** A wrapped method as it was declared, its types aside. */
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
 * or result. An error that you throw rolls the transaction back. `If-Match` is compared before your function
 * runs. `validate_only` runs all of it in a transaction that is rolled back, without the `afterCommit`
 * callbacks.
 * @param fn - gets the request, the call, and `standard`, which calls the repository's implementation.
 * `standard` runs in the current context, so `RequestContext.asSystem` and nested transactions around it
 * apply.
 * @returns a member of the implementation that is registered together with the repository. If the repository
 * does not implement the method by itself, the server does not start.
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
  // It is called for its own method alone, which is not known here.
  wraps.set(handler, { options, fn: fn as unknown as Wrap['fn'] })
  return handler
}

/** The parts of a wrapped function; undefined for other functions. */
export const wrapOf = (handler: object): Wrap | undefined => wraps.get(handler)
