import type { DescService } from '@bufbuild/protobuf'
import {
  type CallOptions,
  type Channel,
  type Client,
  type ClientMiddlewareCall,
  createClientFactory,
  Metadata,
} from 'nice-grpc'
import { type Definition, definitionOf } from '../../server/index.js'
import type { Identity } from './principal-headers.js'

const statuses = new WeakMap<object, Uint8Array>()

/** Returns the google.rpc.Status in an error of a {@link testClient}. */
export const statusBytesOf = (error: object): Uint8Array | undefined => statuses.get(error)

/**
 * Returns a typed client of a service that calls as `identity`. Metadata of a single call takes precedence.
 */
export function testClient<S extends DescService>(
  service: S,
  channel: Channel,
  identity: Identity | undefined,
): Client<Definition<S>> {
  async function* identified<Request, Response>(
    call: ClientMiddlewareCall<Request, Response>,
    options: CallOptions,
  ) {
    const metadata = new Metadata(identity?.metadata)
    for (const [name, values] of options.metadata ?? []) metadata.set(name, values)
    let trailer: Metadata | undefined
    const onTrailer = (received: Metadata) => {
      trailer = received
      options.onTrailer?.(received)
    }
    try {
      return yield* call.next(call.request, { ...options, metadata, onTrailer })
    } catch (error) {
      const bytes = trailer?.get('grpc-status-details-bin')
      if (error instanceof Error && bytes !== undefined) statuses.set(error, bytes as Uint8Array)
      throw error
    }
  }
  return createClientFactory().use(identified).create(definitionOf(service), channel) as Client<Definition<S>>
}
