import type { UniversalHandler } from '@connectrpc/connect/protocol'
import type { DescMethod } from '@bufbuild/protobuf'
import { EmptySchema } from '@bufbuild/protobuf/wkt'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { checkResponseBytes } from '../../bounds/response-bytes.js'
import type { Dispatcher } from '../../call.js'
import { CODES, DeclarationError, problem, type Problem } from '../../errors.js'
import type { ExactPath, ExactPaths } from '../../gateway/exact-path.js'
import { CONTENT_CODINGS } from '../../gateway/http/content-coding.js'
import { forwardedNames, sentNames } from '../../gateway/http/metadata-of.js'
import { messageWriter } from '../../gateway/json/writer.js'
import { withUnknownTypes, writableJson } from './writable-json.js'
import type { GatewayMux } from '../../gateway/routing/mux.js'
import { registryOf } from '../../gateway/json/type-registry.js'
import { literalPaths } from '../../openapi/literal-paths.js'
import { messageBytes } from '../../resource/wire/message-writer.js'
import type { UnauthenticatedBytes } from '../../bounds/unauthenticated-bytes.js'
import { pathOf } from '../chain/method.js'
import type { ResolvedConfig } from '../config/config.js'
import { isDevelopment } from '../config/development.js'
import type { Registry } from '../methods/registry.js'
import { type ConnectedCall, implementationOf } from './connected-call.js'
import { methodPath, type Serving } from './method-path.js'
import { type ConnectPackage, loadConnect } from './load-connect.js'
import { sendTrailersOnly } from './send-universal.js'

/** The size in bytes from which messages are compressed. */
const COMPRESS_FROM = 1024

/**
 * Returns the Connect and gRPC-Web paths, one for each method without client streaming, if the configuration
 * enables them.
 * @param mux - the HTTP routes; undefined without a gateway.
 * @throws DeclarationError if they are enabled but cannot be served, or if a handler or an HTTP rule uses the
 *   path of a method.
 */
export const connectPaths = async (
  mux: GatewayMux | undefined,
  registry: Registry,
  config: ResolvedConfig,
  dispatcher: Dispatcher,
  unauthenticated: UnauthenticatedBytes,
): Promise<ExactPaths | undefined> => {
  const { connect: asked, grpc } = config.gateway
  if (grpc) checkGrpc(mux, config)
  if (!(asked ?? (mux !== undefined && isDevelopment()))) return undefined
  const refuse = (...problems: Problem[]): never => {
    throw new DeclarationError('server', problems)
  }
  if (mux === undefined)
    return refuse(problem('gateway', 'gateway: connect needs an httpAddr, or httpListener()'))
  const connect = await loadConnect()
  if (connect === undefined) {
    if (asked === true)
      return refuse(
        problem(
          'gateway',
          'gateway: connect needs the package @connectrpc/connect',
          'npm install @connectrpc/connect',
        ),
      )
    config.logger.info(
      { package: '@connectrpc/connect' },
      'Connect and gRPC-Web are not served: the package is not installed',
    )
    return undefined
  }
  const methods = registry.services().flatMap((service) => service.methods.filter(hasOneRequest))
  const rules = literalPaths(registry.services())
  const taken = methods.map(pathOf).filter((path) => rules.has(path) || mux.has(path))
  if (taken.length > 0)
    refuse(
      ...taken.map((path) =>
        problem(
          'gateway',
          `gateway: Connect uses the path ${path}, which a handler or an HTTP rule also has`,
          'give that another path, or set connect: false',
        ),
      ),
    )
  const because = asked === true ? 'the option connect' : 'development, and the package is installed'
  config.logger.info(
    { paths: methods.length, because },
    grpc ? 'Connect, gRPC-Web and gRPC are served over HTTP' : 'Connect and gRPC-Web are served',
  )
  return pathsOf(connect, methods, registry, config, { dispatcher, unauthenticated })
}

/** @throws DeclarationError if gRPC is requested on a listener that cannot serve it. */
const checkGrpc = (mux: GatewayMux | undefined, { gateway, httpAddr, httpTls }: ResolvedConfig): void => {
  const problems = [
    ...(gateway.connect === true
      ? []
      : [problem('gateway', 'gateway: grpc needs connect', 'true, which serves it')]),
    ...(httpAddr !== '' && httpTls === undefined
      ? [problem('gateway', 'gateway: grpc needs TLS at httpAddr, where clients choose HTTP/2')]
      : []),
    ...(gateway.http2 === false || (gateway.http2 === undefined && mux?.hasNodeHandlers === true)
      ? [problem('gateway', 'gateway: grpc needs HTTP/2, which is not offered', 'set http2: true')]
      : []),
  ]
  if (problems.length > 0) throw new DeclarationError('server', problems)
}

const hasOneRequest = ({ methodKind }: DescMethod): boolean =>
  methodKind === 'unary' || methodKind === 'server_streaming'

const pathsOf = (
  connect: ConnectPackage,
  methods: readonly DescMethod[],
  registry: Registry,
  { gateway, logger }: ResolvedConfig,
  parts: Pick<Serving, 'dispatcher' | 'unauthenticated'>,
): ExactPaths => {
  const types = registryOf(registry.services().flatMap((service) => service.methods))
  const jsonOptions = { ignoreUnknownFields: false, registry: withUnknownTypes(types) }
  const forwarded = forwardedNames(gateway.forwardHeaders)
  const headers = sentNames(gateway.responseHeaders)
  const trailers = ['etag', ...gateway.responseHeaders]
  const serving: Serving = {
    ...{ ...parts, connect, logger, registry: types, forwarded, sent: { headers, trailers } },
    ...{ maxBodyBytes: gateway.maxBodyBytes, compress: gateway.compress, grpc: gateway.grpc },
    pages: gateway.cors,
    key: connect.createContextKey<ConnectedCall | undefined>(undefined),
    readable: ({ output }, message) => writableJson(output, message, types),
    write: ({ output }, message, { isJson }, maxBytes) =>
      isJson
        ? checkResponseBytes(
            messageWriter(output)(message, { registry: types, maxCharacters: maxBytes }).length,
            maxBytes,
          )
        : void messageBytes(output, message, maxBytes),
  }
  const router = connect.createConnectRouter({
    grpc: gateway.grpc,
    acceptCompression: CONTENT_CODINGS.map(({ name, compress, inflate }) => ({
      ...{ name, compress, decompress: inflate },
    })),
    compressMinBytes: COMPRESS_FROM,
    jsonOptions,
  })
  // The Connect package does not parse the request, because it would truncate 64-bit integers in JSON to 53
  // bits.
  for (const method of methods)
    router.rpc({ ...method, input: EmptySchema } as DescMethod, implementationOf(serving, method))
  const byHandler = (handler: UniversalHandler, index: number): readonly [string, ExactPath] => {
    const method = methods[index] as DescMethod
    return [handler.requestPath, methodPath(serving, method, handler)]
  }
  const { cors } = connect
  return {
    byPath: new Map(router.handlers.map(byHandler)),
    ...(gateway.grpc && { respondsUnserved: unimplemented }),
    headers: {
      forwarded: [...forwarded, ...cors.allowedHeaders, 'Connect-Protocol-Version'],
      responseHeaders: [...headers, ...cors.exposedHeaders, ...trailers.map((name) => `trailer-${name}`)],
    },
  }
}

const GRPC = /^application\/grpc(?:\+proto)?[\t ]*(?:;|$)/

const unimplemented = (request: IncomingMessage, response: ServerResponse): boolean => {
  const { url = '', headers, httpVersionMajor } = request
  if (httpVersionMajor < 2 || !GRPC.test(headers['content-type'] ?? '')) return false
  response.setHeader('content-type', 'application/grpc')
  const trailer = new Headers({
    'grpc-status': String(CODES.UNIMPLEMENTED),
    'grpc-message': encodeURI(`the server does not implement the method ${url}`),
  })
  sendTrailersOnly(response, trailer)
  return true
}
