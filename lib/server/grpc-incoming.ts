import type { DescMethod } from '@bufbuild/protobuf'
import { Caller, type Incoming, Metadata } from './call.js'

/** A call that came in over gRPC. */
export class GrpcIncoming implements Incoming {
  readonly door = 'grpc'
  readonly headers = new Metadata()
  readonly trailers = new Metadata()
  readonly caller = new Caller()

  constructor(
    readonly method: DescMethod,
    readonly metadata: Metadata,
    readonly deadline: number | undefined,
    readonly peer: string,
  ) {}
}
