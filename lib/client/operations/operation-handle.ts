import { type DescFile, type DescMessage, type MessageShape, toBinary } from '@bufbuild/protobuf'
import { type Any, anyUnpack } from '@bufbuild/protobuf/wkt'
import { type Operation, Operations } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { type Status, StatusSchema } from 'ashlar-annotations/google/rpc/status_pb.js'
import { AshlarError } from '../../errors.js'
import { registryOfFiles } from '../../gateway/json/type-registry.js'
import { type Calling, callUnary } from '../calling/call-unary.js'
import type { CallOptions } from '../calling/call-options.js'
import { failureOf } from '../transports/transport-failure.js'
import { statesOf, type WaitOptions } from './states.js'

/**
 * A long-running operation (AIP-151). It continues when its client ends: store `name` and open it again with
 * `openOperation`.
 * @example
 * ```ts
 * import type { OperationHandle } from 'ashlar/client'
 * import { WidgetSchema } from './gen/widgets_pb.js'
 *
 * export async function finished(operation: OperationHandle): Promise<string> {
 *   for await (const { displayName } of operation.progress(WidgetSchema)) console.log(displayName)
 *   return (await operation.result(WidgetSchema, { timeoutMs: 60_000 })).id
 * }
 * ```
 */
export class OperationHandle {
  readonly #calling: Calling
  readonly #options: CallOptions
  readonly #files: readonly DescFile[]
  #latest: Operation

  /**
   * Created by clients and by `openOperation`.
   * @param files - files with the types of error details, in addition to the file of the response.
   */
  constructor(calling: Calling, latest: Operation, options: CallOptions, files: readonly DescFile[] = []) {
    this.#calling = calling
    this.#latest = latest
    this.#options = options
    this.#files = files
  }

  get name(): string {
    return this.#latest.name
  }

  /** The last state that the server returned. */
  get latest(): Operation {
    return this.#latest
  }

  /**
   * Waits for the end of the operation.
   * @param schema - the type of the response.
   * @returns the response.
   * @throws AshlarError with the failure of the operation, or DEADLINE_EXCEEDED after the timeout, in which
   *   case the operation continues.
   */
  async result<Desc extends DescMessage>(
    schema: Desc,
    options: WaitOptions = {},
  ): Promise<MessageShape<Desc>> {
    for await (const _ of this.#states(options, 'end'));
    const { name, result } = this.#latest
    switch (result.case) {
      case 'response':
        return unpacked(result.value, schema, `the response of ${name}`)
      case 'error':
        throw failedAs(result.value, [schema.file, ...this.#files])
      case undefined:
        throw new AshlarError('INTERNAL', `${name} ended without a response or an error`)
    }
  }

  /**
   * Yields the metadata of the operation each time it changes, until the operation has ended.
   * @param schema - the type of the metadata.
   * @throws AshlarError DEADLINE_EXCEEDED after the timeout, in which case the operation continues.
   */
  async *progress<Desc extends DescMessage>(
    schema: Desc,
    options: WaitOptions = {},
  ): AsyncIterable<MessageShape<Desc>> {
    let last: Any | undefined
    for await (const { name, metadata } of this.#states(options, 'progress')) {
      if (metadata === undefined || (last !== undefined && Buffer.compare(last.value, metadata.value) === 0))
        continue
      last = metadata
      yield unpacked(metadata, schema, `the metadata of ${name}`)
    }
  }

  /** Fetches the current state once, stores it in `latest` and returns it. */
  async refresh(options: CallOptions = {}): Promise<Operation> {
    const { getOperation } = Operations.method
    const state = await callUnary(
      this.#calling,
      getOperation,
      { name: this.name },
      { ...this.#options, ...options },
    )
    return (this.#latest = state as Operation)
  }

  /** Requests the server to stop the operation, which may still end with a response. */
  async cancel(options: CallOptions = {}): Promise<void> {
    const { cancelOperation } = Operations.method
    await callUnary(this.#calling, cancelOperation, { name: this.name }, { ...this.#options, ...options })
  }

  async *#states(options: WaitOptions, waitingFor: 'end' | 'progress'): AsyncIterable<Operation> {
    const states = statesOf(this.#calling, this.#latest, this.#options, options, waitingFor)
    for await (const state of states) {
      this.#latest = state
      yield state
    }
  }
}

const failedAs = (status: Status, files: readonly DescFile[]): AshlarError =>
  failureOf(status.code, status.message, toBinary(StatusSchema, status), registryOfFiles(files))

const unpacked = <Desc extends DescMessage>(any: Any, schema: Desc, what: string): MessageShape<Desc> => {
  const message = anyUnpack(any, schema)
  if (message === undefined)
    throw new TypeError(
      `${what} is ${any.typeUrl.slice(any.typeUrl.lastIndexOf('/') + 1)}, not ${schema.typeName}`,
    )
  return message
}
