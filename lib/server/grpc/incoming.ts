import type { DescMethod, Message } from '@bufbuild/protobuf'
import { type Caller, type Incoming, Metadata } from '../../call.js'
import { messageBytes } from '../../resource/wire/message-writer.js'
import type { Arrival } from './arrival.js'

/** A call from the gRPC listener. */
export class GrpcIncoming implements Incoming {
  readonly transport = 'grpc'
  readonly headers = new Metadata()
  readonly trailers = new Metadata()
  readonly caller: Caller
  readonly deadline: number | undefined
  unreadable: Error | undefined
  /** The response of a unary call. */
  bytes: Uint8Array = NOTHING

  constructor(
    readonly method: DescMethod,
    readonly metadata: Metadata,
    { caller, deadline }: Arrival,
    readonly peer: string,
  ) {
    this.caller = caller
    this.deadline = deadline
  }

  write(response: Message): void {
    this.bytes = messageBytes(this.method.output, response)
  }

  writeBytes(response: Uint8Array): void {
    this.bytes = response
  }
}

const NOTHING = new Uint8Array()
