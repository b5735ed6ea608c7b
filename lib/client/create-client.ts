import { create, type DescMethod, type DescService, type Message } from '@bufbuild/protobuf'
import { type Operation, OperationSchema } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { attemptOf, type Calling, callingOf, callUnary, timeoutOf } from './calling/call-unary.js'
import type { CallOptions, ClientOptions } from './calling/call-options.js'
import { requireService } from '../resource/messages/descriptor.js'
import type { Client } from './client-types.js'
import { OperationHandle } from './operations/operation-handle.js'
import { listCall, listShapeOf } from './pages/list-call.js'

/**
 * Creates a client of a service. Its methods have the descriptor's names in lowerCamelCase.
 *
 * Calls have a deadline. If the server is unavailable, calls that read are repeated, and so are writes with a
 * `request_id` (AIP-155), which the client generates. Failures are AshlarErrors with their details.
 * @throws RangeError for an invalid option.
 * @throws DeclarationError for a service of another generator, which has no descriptor.
 * @example
 * ```ts
 * import { createClient, grpcTransport } from 'ashlar/client'
 * import { WidgetService } from './gen/widgets_pb.js'
 *
 * const transport = grpcTransport('localhost:9090')
 * const widgets = createClient(WidgetService, { transport, metadata: { authorization: 'Bearer …' } })
 * const { id } = await widgets.createWidget({ widget: { displayName: 'Anvil', size: 7 } })
 * for await (const { displayName } of widgets.listWidgets({ pageSize: 100 })) console.log(displayName)
 * await widgets.deleteWidget({ id }, { timeoutMs: 2_000 })
 * transport.close()
 * ```
 */
export function createClient<S extends DescService>(service: S, options: ClientOptions): Client<S> {
  requireService('client', 'createClient', service)
  const calling = callingOf(options)
  return Object.fromEntries(
    service.methods.map((method) => [method.localName, functionOf(calling, method)]),
  ) as Client<S>
}

/**
 * Opens an operation that was started earlier, by this program or another.
 * @param name - the operation's name, such as `operations/2f6e…`.
 */
export async function openOperation(
  name: string,
  options: ClientOptions,
  call: CallOptions = {},
): Promise<OperationHandle> {
  const handle = new OperationHandle(callingOf(options), create(OperationSchema, { name }), call)
  await handle.refresh(call)
  return handle
}

/** The initial values of a request. */
type Init = Record<string, unknown>

/** Returns the function of one method. */
function functionOf(calling: Calling, method: DescMethod): unknown {
  switch (method.methodKind) {
    case 'unary':
      return unaryOf(calling, method)
    case 'server_streaming':
      return async function* (init: Init, options: CallOptions = {}) {
        const request = create(method.input, init)
        const attempt = await attemptOf(calling, options, deadlineOf(options))
        yield* calling.transport.serverStream(method, request, attempt)
      }
    case 'client_streaming':
      return async (requests: AsyncIterable<Init>, options: CallOptions = {}) => {
        const attempt = await attemptOf(calling, options, deadlineOf(options))
        return calling.transport.clientStream(method, messages(method, requests), attempt)
      }
    case 'bidi_streaming':
      return async function* (requests: AsyncIterable<Init>, options: CallOptions = {}) {
        const attempt = await attemptOf(calling, options, deadlineOf(options))
        yield* calling.transport.bidiStream(method, messages(method, requests), attempt)
      }
  }
}

function unaryOf(calling: Calling, method: DescMethod): unknown {
  if (method.output.typeName === OperationSchema.typeName)
    return async (init: object, options: CallOptions = {}) => {
      const operation = await callUnary(calling, method, init, options)
      return new OperationHandle(calling, operation as Operation, options, [method.parent.file])
    }
  const shape = listShapeOf(method)
  if (shape === undefined)
    return (init: object, options?: CallOptions) => callUnary(calling, method, init, options)
  return (init: Init, options?: CallOptions) =>
    listCall(shape, create(method.input, init), (request) => callUnary(calling, method, request, options))
}

const deadlineOf = ({ timeoutMs }: CallOptions): number | undefined =>
  timeoutMs === undefined ? undefined : Date.now() + timeoutOf(timeoutMs)

async function* messages(method: DescMethod, inits: AsyncIterable<Init>): AsyncIterable<Message> {
  for await (const init of inits) yield create(method.input, init)
}
