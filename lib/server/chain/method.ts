import type { DescField, DescMethod, Message } from '@bufbuild/protobuf'
import type { Local } from '../../resource/messages/local-field.js'
import {
  boolReader,
  fieldNamed,
  maskReader,
  type Reader,
  stringReader,
} from '../../resource/messages/field-readers.js'
import { type Readable, readableOf } from '../../resource/messages/read-mask-target.js'
import { Health } from '../../gen/grpc/health/v1/health_pb.js'
import { ServerReflection } from '../../gen/grpc/reflection/v1/reflection_pb.js'
import { ServerReflection as ServerReflectionAlpha } from '../../gen/grpc/reflection/v1alpha/reflection_pb.js'
import { nestedValidateOnly } from './nested-validate-only.js'

/**
 * The maximum length of a service or type name in a public request, because the name is stored or repeated.
 */
export const MAX_NAME_CHARACTERS = 1024

/** The maximum size of a request of a public service whose requests hold names. */
const MAX_NAME_BYTES = 8 * 1024
/** The services of the framework that anybody may call. */
const OF_EVERYBODY: ReadonlySet<string> = new Set(
  [Health, ServerReflection, ServerReflectionAlpha].map(({ typeName }) => typeName),
)

/** Bytes that a message of a request may have, of which the methods of others may have `limit`. */
export const requestBytes = ({ parent }: DescMethod, limit: number): number =>
  OF_EVERYBODY.has(parent.typeName) ? Math.min(limit, MAX_NAME_BYTES) : limit

/**
 * One rpc with what interceptors need to know about its messages, computed once. A reader is undefined when
 * its field is missing.
 */
export interface Method {
  readonly desc: DescMethod
  /** gRPC full method name, `/package.Service/Method`. */
  readonly path: string
  /** True if the client or the server streams. */
  readonly isStreaming: boolean
  readonly clientStreams: boolean
  readonly updateMask: Reader<readonly string[]> | undefined
  readonly readMask: Reader<readonly string[]> | undefined
  readonly validateOnly: Reader<boolean> | undefined
  /**
   * The path of a `validate_only` that is set in a request inside of the request, such as an item of a batch.
   */
  readonly nestedValidateOnly: Reader<string | undefined> | undefined
  /** The AIP-155 `request_id`. */
  readonly requestId: Reader<string> | undefined
  /** The request's `etag`, or the etag of the resource in an update request. */
  readonly requestEtag: Reader<string> | undefined
  readonly responseEtag: Reader<string> | undefined
  /** The message that a read mask applies to: the items of a list, or the response itself. */
  readonly readable: Readable
}

/** Returns the same object for the same descriptor. */
export const methodOf = (desc: DescMethod): Method => {
  const known = methods.get(desc)
  if (known !== undefined) return known
  const method = describeMethod(desc)
  methods.set(desc, method)
  return method
}

/** gRPC full method name. */
export const pathOf = (desc: DescMethod): string => `/${desc.parent.typeName}/${desc.name}`

/** The value of a field outside of a oneof. */
export const valueOf = (message: Message, field: DescField): unknown => (message as Local)[field.localName]

// Keyed by descriptor, which lives as long as its module.
const methods = new WeakMap<DescMethod, Method>()

const describeMethod = (desc: DescMethod): Method => {
  const clientStreams = desc.methodKind === 'client_streaming' || desc.methodKind === 'bidi_streaming'
  return {
    desc,
    path: pathOf(desc),
    isStreaming: desc.methodKind !== 'unary',
    clientStreams,
    updateMask: maskReader(desc.input, 'update_mask'),
    readMask: maskReader(desc.input, 'read_mask'),
    validateOnly: boolReader(desc.input, 'validate_only'),
    nestedValidateOnly: nestedValidateOnly(desc),
    requestId: stringReader(desc.input, 'request_id'),
    requestEtag: stringReader(desc.input, 'etag') ?? resourceEtag(desc),
    responseEtag: desc.methodKind === 'unary' ? stringReader(desc.output, 'etag') : undefined,
    readable: readableOf(desc.output),
  }
}

/** The etag of an update is inside the resource (AIP-154). */
const resourceEtag = ({ input, output }: DescMethod): Reader<string> | undefined => {
  if (fieldNamed(input, 'update_mask') === undefined) return undefined
  const resource = input.fields.find(
    (field) => field.fieldKind === 'message' && field.message.typeName === output.typeName,
  )
  const etag = stringReader(output, 'etag')
  if (resource === undefined || etag === undefined) return undefined
  const { localName } = resource
  return (request) => {
    const value = (request as Local)[localName]
    return value === undefined ? '' : etag(value as Message)
  }
}
