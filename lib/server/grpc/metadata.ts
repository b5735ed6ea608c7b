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

/** Leaves out text that no header can hold, because failing here would fail a call that is done. */
export const toGrpc = (metadata: Metadata): GrpcMetadata => {
  const result = new GrpcMetadata()
  for (const [name, values] of metadata.all)
    for (const value of values) {
      if (name.endsWith('-bin')) result.add(name, Buffer.from(value, 'base64'))
      else if (SENDABLE.test(value)) result.add(name, value)
    }
  return result
}

/** Adds the metadata of the chain to what nice-grpc will send. */
export const intoNice = (metadata: Metadata, target: NiceMetadata): void => {
  for (const [name, value] of metadata.entries()) {
    if (name.endsWith('-bin')) target.append(name, Buffer.from(value, 'base64'))
    else if (SENDABLE.test(value)) target.append(name, value)
  }
}

const SENDABLE = /^[\x20-\x7e]*$/
