import type { DescMethod, DescService } from '@bufbuild/protobuf'
import type { ServerCredentials, ServerInterceptor, ServerOptions } from '@grpc/grpc-js'
import { createServer, type Server as NiceServer, type ServiceDefinition } from 'nice-grpc'
import { closeEnded } from '../../bounds/close-ended.js'
import type { Dispatcher } from '../../call.js'
import { destroyLater } from '../../gateway/http/destroy-later.js'
import type { UnauthenticatedBytes } from '../../bounds/unauthenticated-bytes.js'
import type { Arrival } from './arrival.js'
import { Admission } from './admission.js'
import { hookServer } from './grpc-js-internals.js'
import { closeRefused, keepRepeated } from './stream-headers.js'
import { streamHandler } from './stream.js'
import { StreamCall } from './stream-call.js'
import { UnaryCall } from './unary.js'
import type { ResolvedLimits } from '../config/limits.js'
import { pathOf, requestBytes } from '../chain/method.js'

export interface GrpcParts {
  readonly dispatcher: Dispatcher
  readonly limits: ResolvedLimits
  readonly unauthenticated: UnauthenticatedBytes
  readonly timeoutMsOf: (method: { readonly path: string }) => number
}

export interface ServedMethod {
  readonly desc: DescMethod
  /** The maximum time to receive a request, in milliseconds. */
  readonly timeoutMs: number
  /** After that, the maximum time in which the client reads nothing of the response, in milliseconds. */
  readonly unreadMs: number
  /** Maximum bytes of a request message, before and after decompression. */
  readonly maxMessageBytes: number
}

/** The gRPC listener. Every method of every service calls the dispatcher. */
export class GrpcListener {
  readonly #server: NiceServer
  readonly #credentials: ServerCredentials

  constructor(
    services: readonly DescService[],
    { dispatcher, limits, unauthenticated, timeoutMsOf }: GrpcParts,
    credentials: ServerCredentials,
  ) {
    this.#credentials = credentials
    const { maxMessageBytes, maxHeaderBytes, httpRequestMs: unreadMs } = limits
    const served = (desc: DescMethod): ServedMethod => ({
      desc,
      timeoutMs: timeoutMsOf({ path: pathOf(desc) }),
      unreadMs,
      maxMessageBytes: requestBytes(desc, maxMessageBytes),
    })
    const methods = new Map<string, ServedMethod>(
      services.flatMap(({ methods: all }) => all.map((desc) => [pathOf(desc), served(desc)])),
    )
    const options: ServerOptions = {
      // channelz would count every call and message, but its service is not served.
      'grpc.enable_channelz': 0,
      'grpc.max_concurrent_streams': limits.maxConcurrentStreams,
      'grpc.keepalive_timeout_ms': limits.grpcKeepaliveTimeoutMs,
      ...bound('grpc.keepalive_time_ms', limits.grpcKeepaliveMs),
      ...bound('grpc.max_connection_idle_ms', limits.grpcMaxIdleMs),
      ...bound('grpc.max_connection_age_ms', limits.grpcMaxAgeMs),
    }
    const admission = new Admission(unauthenticated, maxHeaderBytes, methods)
    const enter: ServerInterceptor = ({ path }, call) => {
      const arrival = admission.latest as Arrival
      const method = methods.get(path) as ServedMethod
      if (method.desc.methodKind === 'unary') return new UnaryCall(call, method, dispatcher, arrival)
      return new StreamCall(call, method, arrival)
    }
    options.interceptors = [enter]
    hookServer(options, {
      headers: keepRepeated,
      admit: admission.takes,
      begun: closeRefused,
      connection: (socket) => closeEnded(socket, limits.grpcKeepaliveTimeoutMs),
      session: destroyLater,
    })
    this.#server = createServer(options)
    for (const service of services) this.#add(service, dispatcher)
  }

  /**
   * Binds the address.
   * @param address - `host:port`; an empty host means every IPv4 interface, port 0 a free port.
   * @returns the bound address.
   */
  async listen(address: string): Promise<string> {
    const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(address) ?? []
    const bindTo = host === '' ? '0.0.0.0' : host
    return `${bindTo}:${await this.#server.listen(`${bindTo}:${port}`, this.#credentials)}`
  }

  /** Stops accepting calls and resolves when the last one has ended. */
  async drain(): Promise<void> {
    await this.#server.shutdown()
  }

  /** Ends the remaining calls. */
  close(): void {
    this.#server.forceShutdown()
  }

  #add(service: DescService, dispatcher: Dispatcher): void {
    // grpc-js throws for a service without methods.
    if (service.methods.length === 0) return
    const definition: ServiceDefinition = {}
    const implementation: Record<string, unknown> = {}
    for (const method of service.methods) {
      definition[method.localName] = bytesDefinition(method)
      implementation[method.localName] =
        method.methodKind === 'unary' ? respondedBefore : streamHandler(method, dispatcher)
    }
    // The definition is built at run time, so its types are unknown here.
    this.#server.add(definition, implementation as never)
  }
}

/** grpc-js applies no limit if the option is omitted. */
const bound = (option: keyof ServerOptions, value: number): ServerOptions =>
  Number.isFinite(value) ? { [option]: value } : {}

/** Responses are passed as bytes. Requests are read by `Arrival` instead. */
const bytesDefinition = (method: DescMethod) => ({
  path: pathOf(method),
  requestStream: method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
  responseStream: method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
  options: {},
})

const same = (bytes: Uint8Array): Uint8Array => bytes

/** `UnaryCall` answers unary calls before nice-grpc would call this. */
const respondedBefore = (): never => {
  throw new TypeError('a unary call bypassed its interceptor')
}
