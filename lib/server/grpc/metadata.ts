import { Metadata as GrpcMetadata } from '@grpc/grpc-js'
import type { Metadata as NiceMetadata } from 'nice-grpc'
import { Metadata } from '../../call.js'

/** Converts gRPC metadata for the chain. Binary values are encoded as base64. */
export const fromGrpc = (metadata: GrpcMetadata): Metadata => {
  const result = new Metadata()
  const received = metadata.toJSON()
  for (const name in received) {
    for (const value of received[name] ?? [])
      result.append(name, typeof value === 'string' ? value : value.toString('base64'))
  }
  return result
}

/**
 * Converts metadata to gRPC. Values that a header cannot contain are omitted, because an error here would
 * fail a completed call.
 */
export const toGrpc = (metadata: Metadata): GrpcMetadata => {
  const result = new GrpcMetadata()
  for (const [name, values] of metadata.all)
    for (const value of values) {
      if (name.endsWith('-bin')) result.add(name, Buffer.from(value, 'base64'))
      else if (SENDABLE.test(value)) result.add(name, value)
    }
  return result
}

/** Adds the chain's metadata to the metadata that nice-grpc sends. */
export const intoNice = (metadata: Metadata, target: NiceMetadata): void => {
  for (const [name, value] of metadata.entries()) {
    if (name.endsWith('-bin')) target.append(name, Buffer.from(value, 'base64'))
    else if (SENDABLE.test(value)) target.append(name, value)
  }
}

const SENDABLE = /^[\x20-\x7e]*$/
