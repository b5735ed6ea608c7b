import { Metadata as GrpcMetadata } from '@grpc/grpc-js'
import type { Metadata as NiceMetadata } from 'nice-grpc'
import { Metadata } from '../../call.js'

/** gRPC metadata as the chain reads it: binary values become base64 text. */
export const fromGrpc = (metadata: GrpcMetadata): Metadata => {
  const result = new Metadata()
  const received = metadata.toJSON()
  for (const name in received) {
    for (const value of received[name] ?? [])
      result.append(name, typeof value === 'string' ? value : value.toString('base64'))
  }
  return result
}

/** Text that is not fit for a header is left out rather than failing the call that is on its way out. */
export const toGrpc = (metadata: Metadata): GrpcMetadata => {
  const result = new GrpcMetadata()
  for (const [name, values] of metadata.all)
    for (const value of values) {
      if (name.endsWith('-bin')) result.add(name, Buffer.from(value, 'base64'))
      else if (SENDABLE.test(value)) result.add(name, value)
    }
  return result
}

/** Adds what the chain left to what nice-grpc will send. */
export const intoNice = (metadata: Metadata, target: NiceMetadata): void => {
  for (const [name, value] of metadata.entries()) {
    if (name.endsWith('-bin')) target.append(name, Buffer.from(value, 'base64'))
    else if (SENDABLE.test(value)) target.append(name, value)
  }
}

const SENDABLE = /^[\x20-\x7e]*$/
