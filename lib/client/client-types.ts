import type { DescMethod, DescService, Message, MessageInitShape, MessageShape } from '@bufbuild/protobuf'
import type { Operation } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import type { CallOptions } from './calling/call-options.js'
import type { OperationHandle } from './operations/operation-handle.js'
import type { ListCall } from './pages/list-call.js'

/** A client of a service, with a function for each of its methods. */
export type Client<S extends DescService> = {
  readonly [K in keyof S['method']]: ClientMethod<S['method'][K]>
}

/**
 * The function of one method. The result of a list is also an iterable of its items, a long-running operation
 * returns a promise of a handle, and a stream returns an async iterable.
 */
export type ClientMethod<M extends DescMethod> = {
  readonly unary: (
    request: MessageInitShape<M['input']>,
    options?: CallOptions,
  ) => Returned<MessageShape<M['output']>>
  readonly server_streaming: (
    request: MessageInitShape<M['input']>,
    options?: CallOptions,
  ) => AsyncIterable<MessageShape<M['output']>>
  readonly client_streaming: (
    requests: AsyncIterable<MessageInitShape<M['input']>>,
    options?: CallOptions,
  ) => Promise<MessageShape<M['output']>>
  readonly bidi_streaming: (
    requests: AsyncIterable<MessageInitShape<M['input']>>,
    options?: CallOptions,
  ) => AsyncIterable<MessageShape<M['output']>>
}[M['methodKind']]

type Returned<Response> = Response extends Operation
  ? Promise<OperationHandle>
  : Response extends { readonly nextPageToken: string }
    ? [ListedItem<Response>] extends [never]
      ? Promise<Response>
      : ListCall<Response, ListedItem<Response>>
    : Promise<Response>

/** The item type of a page, which is the element type of its only list of messages. */
export type ListedItem<Response> = Response[ListsOf<Response>] extends readonly (infer Item)[]
  ? IsUnion<ListsOf<Response>> extends true
    ? never
    : Item
  : never

type ListsOf<Response> = {
  [K in keyof Response]-?: Response[K] extends readonly (infer Item)[]
    ? Item extends Message
      ? K
      : never
    : never
}[keyof Response]

type IsUnion<T, U = T> = [T] extends [never] ? false : T extends U ? ([U] extends [T] ? false : true) : never
