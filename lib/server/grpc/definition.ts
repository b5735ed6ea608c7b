import {
  create,
  type DescMessage,
  type DescMethod,
  type DescService,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf'
import type { MethodDefinition } from 'nice-grpc'
import { requireService } from '../../resource/messages/descriptor.js'
import { pathOf } from '../chain/method.js'

/** A service in nice-grpc's format, for clients and servers. */
export type Definition<S extends DescService> = {
  [K in keyof S['method']]: DefinitionOfMethod<S['method'][K]>
}

type DefinitionOfMethod<M extends Pick<DescMethod, 'input' | 'output' | 'methodKind'>> = MethodDefinition<
  MessageInitShape<M['input']>,
  MessageShape<M['input']>,
  MessageInitShape<M['output']>,
  MessageShape<M['output']>,
  M['methodKind'] extends 'client_streaming' | 'bidi_streaming' ? true : false,
  M['methodKind'] extends 'server_streaming' | 'bidi_streaming' ? true : false
>

/**
 * Returns the nice-grpc definition of a generated service: `createClient(definitionOf(WidgetService),
 * channel)`.
 * @example
 * ```ts
 * import { definitionOf } from 'ashlar'
 * import { createChannel, createClient } from 'nice-grpc'
 * import { WidgetService } from './gen/widgets_pb.js'
 *
 * const widgets = createClient(definitionOf(WidgetService), createChannel('localhost:9090'))
 * const { displayName } = await widgets.getWidget({ id: 'anvil' })
 * ```
 */
export function definitionOf<S extends DescService>(service: S): Definition<S> {
  requireService('gRPC', 'definitionOf', service)
  // The methods are known at run time and the service's type at compile time.
  return Object.fromEntries(
    service.methods.map((method) => [method.localName, methodDefinition(method)]),
  ) as unknown as Definition<S>
}

/** Returns the nice-grpc definition of one method. */
export const methodDefinition = (method: DescMethod) => ({
  path: pathOf(method),
  requestStream: method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
  responseStream: method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
  requestSerialize: serialize(method.input),
  requestDeserialize: deserialize(method.input),
  responseSerialize: serialize(method.output),
  responseDeserialize: deserialize(method.output),
  options: idempotencyOf(method),
})

const serialize = (desc: DescMessage) => (init: object) =>
  toBinary(desc, create(desc, init as Record<string, unknown>))

const deserialize = (desc: DescMessage) => (bytes: Uint8Array) => fromBinary(desc, bytes)

/** Returns nice-grpc's idempotency option of a method. */
export const idempotencyOf = (method: DescMethod) => IDEMPOTENCY[method.idempotency]

/** google.protobuf.MethodOptions.IdempotencyLevel: unknown, no side effects, idempotent. */
const IDEMPOTENCY = [{}, { idempotencyLevel: 'NO_SIDE_EFFECTS' }, { idempotencyLevel: 'IDEMPOTENT' }] as const
