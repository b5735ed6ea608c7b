import { fromBinary } from '@bufbuild/protobuf'
import { anyUnpack } from '@bufbuild/protobuf/wkt'
import { ClientError } from 'nice-grpc'
import { AshlarError, type Code, CODES, type FieldViolation } from '../../errors.js'
import { BadRequestSchema } from 'ashlar-annotations/google/rpc/error_details_pb.js'
import { StatusSchema } from 'ashlar-annotations/google/rpc/status_pb.js'
import { statusBytesOf } from './test-client.js'

/** A call under test: a gRPC client's, a `fetch`, a repository operation, or a function that starts one. */
export type TestedCall = PromiseLike<unknown> | AsyncIterable<unknown> | (() => unknown)

/** The error that the caller of a failed call received. */
export interface CallFailure {
  readonly code: Code
  readonly message: string
  readonly violations: readonly FieldViolation[]
}

/**
 * Returns the failure of a call; undefined if it succeeded. Rethrows errors that are not a response of the
 * server, such as a refused connection.
 */
export async function failureOf(call: TestedCall): Promise<CallFailure | undefined> {
  try {
    const result = await (typeof call === 'function' ? call() : call)
    if (result instanceof Response) return await failureIn(result)
    if (isStream(result)) for await (const _ of result);
    return undefined
  } catch (error) {
    if (error instanceof AshlarError) return said(error)
    if (error instanceof ClientError)
      return { code: nameOf(error.code), message: error.details, violations: violationsOf(error) }
    throw error
  }
}

const said = ({ code, wireMessage, details }: AshlarError): CallFailure => ({
  code,
  message: wireMessage,
  violations: details.flatMap((detail) => (detail.kind === 'badRequest' ? detail.violations : [])),
})

const violationsOf = (error: ClientError): readonly FieldViolation[] => {
  const bytes = statusBytesOf(error)
  if (bytes === undefined) return []
  return fromBinary(StatusSchema, bytes).details.flatMap(
    (detail) => anyUnpack(detail, BadRequestSchema)?.fieldViolations ?? [],
  )
}

interface ErrorBody {
  readonly code?: number
  readonly message?: string
  readonly details?: readonly { readonly fieldViolations?: readonly FieldViolation[] }[]
}

async function failureIn(response: Response): Promise<CallFailure | undefined> {
  if (response.ok || response.status === 304) return undefined
  const text = await response.text()
  const { code, message = text, details = [] } = bodyOf(text)
  return {
    code: code === undefined ? 'UNKNOWN' : nameOf(code),
    message,
    violations: details.flatMap(({ fieldViolations }) => fieldViolations ?? []),
  }
}

const bodyOf = (text: string): ErrorBody => {
  try {
    return JSON.parse(text) as ErrorBody
  } catch {
    return {}
  }
}

const nameOf = (code: number): Code =>
  (Object.keys(CODES) as Code[]).find((name) => CODES[name] === code) ?? 'UNKNOWN'

const isStream = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value
