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
 * The maximum length of a service or type name in a public request. Such names are stored or repeated in
 * replies.
 */
export const MAX_NAME_CHARACTERS = 1024

/** The maximum size of a request to a public framework service, whose requests contain only names. */
const MAX_NAME_BYTES = 8 * 1024
/** Framework services that need no authorization. */
const OF_EVERYBODY: ReadonlySet<string> = new Set(
  [Health, ServerReflection, ServerReflectionAlpha].map(({ typeName }) => typeName),
)

/** Returns the maximum size in bytes of a request message. Public framework services have a lower limit. */
export const requestBytes = ({ parent }: DescMethod, limit: number): number =>
  OF_EVERYBODY.has(parent.typeName) ? Math.min(limit, MAX_NAME_BYTES) : limit

/**
 * An rpc and the message fields that interceptors read, computed once. A reader is undefined if its field is
 * missing.
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
  /** Reads the path of a `validate_only` that is set in a nested request, such as a batch item. */
  readonly nestedValidateOnly: Reader<string | undefined> | undefined
  /** Reads the AIP-155 `request_id`. */
  readonly requestId: Reader<string> | undefined
  /** Reads the request's `etag`, or the resource's etag in an update request. */
  readonly requestEtag: Reader<string> | undefined
  readonly responseEtag: Reader<string> | undefined
  /** The message to which a read mask applies: the list items, or the response itself. */
  readonly readable: Readable
}

/** Returns the description of an rpc, the same object for the same descriptor. */
export const methodOf = (desc: DescMethod): Method => {
  const known = methods.get(desc)
  if (known !== undefined) return known
  const method = describeMethod(desc)
  methods.set(desc, method)
  return method
}

/** Returns the gRPC full method name. */
export const pathOf = (desc: DescMethod): string => `/${desc.parent.typeName}/${desc.name}`

/** Returns the value of a field that is not in a oneof. */
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

/** Returns a reader for the etag in an update's resource (AIP-154). */
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
