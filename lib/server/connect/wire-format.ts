/** The protocol of a call and the encoding of its messages, JSON or binary. */
export interface WireFormat {
  readonly protocol: 'connect' | 'grpc-web' | 'grpc'
  readonly isJson: boolean
  /** True if each message has an envelope. In Connect, a single message is the whole body. */
  readonly isEnveloped: boolean
  readonly contentType: string
}

const UNARY: readonly WireFormat[] = [
  { protocol: 'connect', isJson: true, isEnveloped: false, contentType: 'application/json' },
  { protocol: 'connect', isJson: false, isEnveloped: false, contentType: 'application/proto' },
]

const STREAM: readonly WireFormat[] = [
  { protocol: 'connect', isJson: true, isEnveloped: true, contentType: 'application/connect+json' },
  { protocol: 'connect', isJson: false, isEnveloped: true, contentType: 'application/connect+proto' },
]

const GRPC_WEB: readonly WireFormat[] = [
  { protocol: 'grpc-web', isJson: false, isEnveloped: true, contentType: 'application/grpc-web' },
  { protocol: 'grpc-web', isJson: false, isEnveloped: true, contentType: 'application/grpc-web+proto' },
  { protocol: 'grpc-web', isJson: true, isEnveloped: true, contentType: 'application/grpc-web+json' },
]

/** gRPC formats. They require HTTP/2, because a response ends with trailers. */
const GRPC: readonly WireFormat[] = [
  { protocol: 'grpc', isJson: false, isEnveloped: true, contentType: 'application/grpc' },
  { protocol: 'grpc', isJson: false, isEnveloped: true, contentType: 'application/grpc+proto' },
]

/**
 * Returns the formats that a method accepts.
 * @param withGrpc - true if the request came over HTTP/2 and gRPC is served there.
 */
export const formatsOf = (isStreaming: boolean, withGrpc: boolean): readonly WireFormat[] => [
  ...(isStreaming ? STREAM : UNARY),
  ...GRPC_WEB,
  ...(withGrpc ? GRPC : []),
]

/** Returns the format of a Content-Type; undefined for an unknown type or a charset other than UTF-8. */
export const formatOf = (
  formats: readonly WireFormat[],
  given: string | undefined,
): WireFormat | undefined => {
  const [, type = '', charset = 'utf-8'] = CONTENT_TYPE.exec((given ?? '').toLowerCase()) ?? []
  return charset === 'utf-8' || charset === 'utf8'
    ? formats.find(({ contentType }) => contentType === type)
    : undefined
}

const CONTENT_TYPE = /^\s*([a-z0-9+./-]+)\s*(?:;\s*charset="?([a-z0-9-]+)"?\s*)?$/
