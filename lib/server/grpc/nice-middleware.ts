import type { DescMessage, Message } from '@bufbuild/protobuf'
import {
  type CallContext,
  ServerError,
  type ServerMiddleware,
  type ServerMiddlewareCall,
} from 'nice-grpc-common'
import { AshlarError, CODES } from '../../errors.js'
import { idempotencyOf } from './definition.js'
import { messageOf } from '../chain/handler.js'
import type { Method } from '../chain/method.js'
import { asNiceMetadata } from './nice-metadata.js'
import type { InterceptedCall, UserInterceptor } from '../chain/user-interceptor.js'

/**
 * Adapts a nice-grpc middleware to `Config.interceptors`. It runs for unary calls, after authorization. It
 * can read the call's metadata, peer and signal, and set headers and trailers. It receives inner errors as
 * `ServerError`. Errors that it throws reach the client, but messages of INTERNAL and UNKNOWN errors do not.
 * Properties that it adds to the context are available on the call, to inner interceptors and the handler.
 * @throws TypeError during the call if it adds a property that the call already has, or breaks nice-grpc's
 *   own rules.
 */
export const niceGrpcMiddleware =
  <Adds, Needs>(middleware: ServerMiddleware<Adds, Needs>): UserInterceptor =>
  async (call, next) => {
    const { desc, path } = (call as InterceptedCall & { readonly method: Method }).method
    const run = async function* (
      request: unknown,
      context: object,
    ): AsyncGenerator<never, Message, undefined> {
      extend(call, context)
      try {
        return await next(part(request, desc.input, path))
      } catch (error) {
        throw asServerError(error)
      }
    }
    // The generator yields nothing, which the package's types cannot express.
    const middlewareCall = {
      method: { path, requestStream: false, responseStream: false, options: idempotencyOf(desc) },
      requestStream: false,
      request: call.request,
      responseStream: false,
      next: run,
    } as unknown as ServerMiddlewareCall<Message, Message, Adds & Needs>
    try {
      const response = await resultOf(
        middleware(middlewareCall, contextOf(call) as CallContext & Needs),
        path,
      )
      return part(response, desc.output, path)
    } catch (error) {
      throw (error instanceof ServerError && ours.get(error)) || error
    }
  }

/** Reads a generator to its end and returns the response. */
const resultOf = async (generator: AsyncGenerator<unknown, unknown, undefined>, path: string) => {
  for (;;) {
    const { done, value } = await generator.next()
    if (done === true) return value
    await generator.throw(
      new TypeError(`a middleware yielded a message before it called ${path}, which is unary`),
    )
  }
}

const part = (value: unknown, desc: DescMessage, path: string): Message => {
  const message = messageOf(value, desc)
  if (message === undefined) throw new TypeError(`a middleware of ${path} returned no ${desc.typeName}`)
  return message
}

/** The original error of each ServerError, kept so that its details are not lost. */
const ours = new WeakMap<ServerError, AshlarError>()

const asServerError = (error: unknown): unknown => {
  if (!(error instanceof AshlarError)) return error
  const made = new ServerError(CODES[error.code] as number, error.wireMessage)
  ours.set(made, error)
  return made
}

/** The names of the properties that middlewares have added to each call. */
const extensions = new WeakMap<InterceptedCall, Set<string>>()

const contextOf = (call: InterceptedCall): CallContext => {
  const added = [...(extensions.get(call) ?? [])]
  return {
    ...Object.fromEntries(added.map((name) => [name, Reflect.get(call, name) as unknown])),
    metadata: asNiceMetadata(call.metadata),
    header: asNiceMetadata(call.headers),
    trailer: asNiceMetadata(call.trailers),
    peer: call.peer,
    signal: call.signal,
    // A no-op, because headers are sent with the response, once the whole chain has set them.
    sendHeader: () => {},
  }
}

const OWN = new Set(['metadata', 'header', 'trailer', 'peer', 'signal', 'sendHeader'])

const extend = (call: InterceptedCall, context: object): void => {
  const added = extensions.get(call) ?? new Set<string>()
  extensions.set(call, added)
  for (const [name, value] of Object.entries(context)) {
    if (OWN.has(name)) continue
    if (name in call && !added.has(name))
      throw new TypeError(
        `a middleware adds ${name} to the context, which every call already has: use another name`,
      )
    added.add(name)
    Reflect.set(call, name, value)
  }
}
