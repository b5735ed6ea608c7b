import type { DescMethod, Message } from '@bufbuild/protobuf'
import { createClient, Metadata as NiceMetadata } from 'nice-grpc'
import type { Metadata } from '../../call.js'
import { timeoutText } from '../../gateway/http/grpc-timeout.js'
import { methodDefinition } from '../grpc/definition.js'
import type { ExternalTarget } from './external-target.js'

/** The inputs of a call to another server. */
export interface TargetCall {
  readonly metadata: NiceMetadata
  readonly signal: AbortSignal
  readonly onHeader?: (header: NiceMetadata) => void
  readonly onTrailer?: (trailer: NiceMetadata) => void
}

type Send<R> = (request: Message, call: TargetCall) => R

const clients = new WeakMap<ExternalTarget, Map<DescMethod, Send<unknown>>>()

/** Returns a function that calls a unary method of another server. */
export const unaryOf = (target: ExternalTarget, method: DescMethod): Send<Promise<Message>> =>
  clientOf(target, method) as Send<Promise<Message>>

/** Returns a function that calls a method of another server that streams its responses. */
export const streamOf = (target: ExternalTarget, method: DescMethod): Send<AsyncIterable<Message>> =>
  clientOf(target, method) as Send<AsyncIterable<Message>>

function clientOf(target: ExternalTarget, method: DescMethod): Send<unknown> {
  const channel = target.channel()
  let known = clients.get(target)
  if (known === undefined) clients.set(target, (known = new Map<DescMethod, Send<unknown>>()))
  let send = known.get(method)
  if (send === undefined) {
    const client = createClient({ send: methodDefinition(method) }, channel) as {
      readonly send: Send<unknown>
    }
    known.set(method, (send = (request, call) => client.send(request, call)))
  }
  return send
}

/**
 * Returns the metadata that identifies the caller, the call and the deadline to the target.
 * @param names - the metadata to forward.
 */
export function metadataFor(
  names: readonly string[],
  call: {
    readonly metadata: Metadata
    readonly requestId: string
    /** Milliseconds since the epoch. */
    readonly deadline: number | undefined
  },
): NiceMetadata {
  const metadata = new NiceMetadata()
  for (const name of new Set([...names, 'traceparent', 'tracestate'])) {
    const values = call.metadata.getAll(name)
    if (values.length > 0) metadata.set(name, [...values])
  }
  metadata.set('x-request-id', call.requestId)
  if (call.deadline !== undefined) metadata.set('grpc-timeout', timeoutText(call.deadline - Date.now()))
  return metadata
}
