import { create, type DescFile, type DescService, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import * as grpc from '@grpc/grpc-js'
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader'
import { createChannel, createClient, type Client } from 'nice-grpc'
import { type Definition, definitionOf } from '../../../lib/server/grpc/definition.js'

/** The result of a call by a client that is not part of this package. */
export interface Outcome {
  readonly answer: Record<string, unknown> | undefined
  /** The messages of a streamed response. */
  readonly answers: readonly Record<string, unknown>[]
  readonly code: grpc.status
  readonly details: string
  readonly headers: grpc.Metadata
  readonly trailers: grpc.Metadata
}

type Headers = Readonly<Record<string, string | readonly string[]>>

/**
 * A client of `@grpc/grpc-js` that loads the descriptors with proto-loader and uses none of the generated
 * code.
 */
export class ForeignClient {
  readonly #client: grpc.Client & Record<string, (...args: unknown[]) => unknown>

  constructor(service: DescService, address: string, credentials = grpc.credentials.createInsecure()) {
    const loaded = grpc.loadPackageDefinition(
      loadFileDescriptorSetFromBuffer(descriptorSet(service.file), {
        keepCase: true,
        longs: String,
        enums: String,
        defaults: true,
      }),
    )
    const Constructor = service.typeName
      .split('.')
      .reduce<unknown>(
        (at, name) => (at as Record<string, unknown>)[name],
        loaded,
      ) as grpc.ServiceClientConstructor
    this.#client = new Constructor(address, credentials) as never
  }

  unary(
    method: string,
    request: object,
    headers: Headers = {},
    options: grpc.CallOptions = {},
  ): Promise<Outcome> {
    return new Promise((resolve) => {
      let answer: Record<string, unknown> | undefined
      // A "Trailers-Only" response sends headers and trailers in one frame.
      let received: grpc.Metadata | undefined
      const done = (error: grpc.ServiceError | null, value: Record<string, unknown>) => {
        if (error === null) answer = value
      }
      const call = this.#client[method]?.(request, metadataOf(headers), options, done) as grpc.ClientUnaryCall
      call.on('metadata', (metadata: grpc.Metadata) => (received = metadata))
      call.on('status', ({ code, details, metadata }: grpc.StatusObject) =>
        // The callback runs in the same turn as this event, so the result is read after it.
        setImmediate(() =>
          resolve({ answer, answers: [], code, details, headers: received ?? metadata, trailers: metadata }),
        ),
      )
    })
  }

  /**
   * Sends all requests (one for a server stream) and collects the responses.
   * @param enough - after this many responses, the call counts as ended with OK, for a stream that never
   *   ends.
   */
  stream(
    method: string,
    requests: readonly object[],
    headers: Headers = {},
    enough = Number.POSITIVE_INFINITY,
  ): Promise<Outcome> {
    return new Promise((resolve) => {
      const answers: Record<string, unknown>[] = []
      let received: grpc.Metadata | undefined
      const metadata = metadataOf(headers)
      const definition = (this.#client.constructor as unknown as grpc.ServiceClientConstructor).service[
        method
      ]
      const { requestStream, responseStream } = definition as grpc.MethodDefinition<object, object>
      const collect = (error: unknown, value: Record<string, unknown>) => {
        if (error === null) answers.push(value)
      }
      const call = (
        requestStream
          ? responseStream
            ? this.#client[method]?.(metadata)
            : this.#client[method]?.(metadata, collect)
          : this.#client[method]?.(requests[0], metadata)
      ) as grpc.ClientDuplexStream<object, Record<string, unknown>>
      call.on('metadata', (got: grpc.Metadata) => (received = got))
      if (responseStream)
        call.on('data', (value: Record<string, unknown>) => {
          if (answers.push(value) >= enough) call.cancel()
        })
      call.on('error', () => {})
      call.on('status', ({ code: last, details, metadata: trailers }: grpc.StatusObject) =>
        setImmediate(() => {
          const code = answers.length >= enough ? grpc.status.OK : last
          resolve({ answer: answers[0], answers, code, details, headers: received ?? trailers, trailers })
        }),
      )
      if (!requestStream) return
      for (const request of requests) call.write(request)
      call.end()
    })
  }

  close(): void {
    this.#client.close()
  }
}

/** Creates a nice-grpc client for a service definition. */
export function niceClient<S extends DescService>(
  service: S,
  address: string,
): { client: Client<Definition<S>>; close(): void } {
  const channel = createChannel(address)
  return {
    client: createClient(definitionOf(service), channel) as Client<Definition<S>>,
    close: () => channel.close(),
  }
}

/** Returns the descriptors of a file and of all its imports, serialized as protoc writes them. */
export function descriptorSet(file: DescFile): Buffer {
  const files = new Map<string, DescFile>()
  const add = (one: DescFile): void => {
    for (const dependency of one.dependencies) add(dependency)
    files.set(one.name, one)
  }
  add(file)
  const set = create(FileDescriptorSetSchema, { file: [...files.values()].map(({ proto }) => proto) })
  return Buffer.from(toBinary(FileDescriptorSetSchema, set))
}

function metadataOf(headers: Headers): grpc.Metadata {
  const metadata = new grpc.Metadata()
  for (const [name, values] of Object.entries(headers))
    for (const value of [values].flat()) metadata.add(name, value)
  return metadata
}
