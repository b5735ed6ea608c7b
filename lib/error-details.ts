import {
  create,
  type DescMessage,
  fromBinary,
  type Message,
  type Registry,
  toBinary,
} from '@bufbuild/protobuf'
import { type Any, anyPack, anyUnpack, DurationSchema } from '@bufbuild/protobuf/wkt'
import type { ErrorDetail, MessageDetail } from './error-detail.js'
import { type AshlarError, CODES, ERROR_DOMAIN } from './errors.js'
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
} from 'ashlar-annotations/google/rpc/error_details_pb.js'
import { type Status, StatusSchema } from 'ashlar-annotations/google/rpc/status_pb.js'

/** The types of the details that have a `kind`. */
export const DETAIL_TYPES: readonly DescMessage[] = [
  ErrorInfoSchema,
  BadRequestSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
]

/** A detail as a message. */
export interface DetailMessage {
  readonly desc: DescMessage
  readonly message: Message
}

/** Maximum bytes of custom messages. Details are sent in a trailer, and clients accept 8 KiB of trailers. */
const MAX_MESSAGE_BYTES = 4096

/** Returns the details of an error as messages, and the reasons why any are omitted. */
export function detailsOf({ details }: AshlarError): {
  readonly sent: readonly DetailMessage[]
  readonly problems: readonly string[]
} {
  const sent: DetailMessage[] = []
  const problems: string[] = []
  let room = MAX_MESSAGE_BYTES
  for (const detail of details) {
    if (detail.kind !== undefined) {
      sent.push(toMessage(detail))
      continue
    }
    const { desc } = detail
    try {
      const message = create(desc, detail.message as Record<string, unknown>)
      const { length } = toBinary(desc, message)
      room -= length
      if (room < 0) problems.push(`${desc.typeName}: its ${length} bytes exceed ${MAX_MESSAGE_BYTES}`)
      else sent.push({ desc, message })
    } catch (error) {
      problems.push(`${desc.typeName}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return { sent, problems }
}

/**
 * Converts an error to the status that a remote caller receives: as the body over HTTP, as
 * `grpc-status-details-bin` over gRPC.
 */
export const toStatus = (error: AshlarError): Status =>
  create(StatusSchema, {
    code: CODES[error.code],
    message: error.wireMessage,
    details: detailsOf(error).sent.map(({ desc, message }) => anyPack(desc, message)),
  })

/** Returns the bytes for `grpc-status-details-bin`. */
export const toStatusBytes = (error: AshlarError): Uint8Array => toBinary(StatusSchema, toStatus(error))

/**
 * Decodes the details in `grpc-status-details-bin` whose types are known.
 * @param registry - finds types that this framework does not know. Without it, details of other types are
 *   omitted.
 * @throws if the bytes are not a google.rpc.Status.
 */
export const detailsIn = (bytes: Uint8Array, registry?: Registry): readonly ErrorDetail[] =>
  fromBinary(StatusSchema, bytes).details.flatMap((any) => {
    const known = ofAny(any)
    return known.length > 0 || registry === undefined ? known : asMessage(any, registry)
  })

function asMessage(any: Any, registry: Registry): readonly MessageDetail[] {
  const message = anyUnpack(any, registry)
  const desc = message && registry.getMessage(message.$typeName)
  return desc === undefined ? [] : [{ desc, message: message as Message }]
}

function ofAny(any: Any): readonly ErrorDetail[] {
  const info = anyUnpack(any, ErrorInfoSchema)
  if (info !== undefined)
    return info.domain === ERROR_DOMAIN
      ? [{ kind: 'errorInfo', reason: info.reason, metadata: info.metadata }]
      : []
  const bad = anyUnpack(any, BadRequestSchema)
  if (bad !== undefined) return [{ kind: 'badRequest', violations: bad.fieldViolations }]
  const retry = anyUnpack(any, RetryInfoSchema)
  if (retry?.retryDelay !== undefined) {
    const { seconds, nanos } = retry.retryDelay
    return [{ kind: 'retryInfo', delayMs: Math.max(0, Number(seconds) * 1000 + nanos / 1e6) }]
  }
  return (anyUnpack(any, PreconditionFailureSchema)?.violations ?? []).map(
    ({ type, subject, description }) => ({
      kind: 'preconditionFailure',
      type,
      subject,
      description,
    }),
  )
}

function toMessage(detail: Exclude<ErrorDetail, MessageDetail>): DetailMessage {
  switch (detail.kind) {
    case 'errorInfo':
      return {
        desc: ErrorInfoSchema,
        message: create(ErrorInfoSchema, { ...omitKind(detail), domain: ERROR_DOMAIN }),
      }
    case 'badRequest': {
      const fieldViolations = detail.violations.map((violation) => ({ ...violation }))
      return { desc: BadRequestSchema, message: create(BadRequestSchema, { fieldViolations }) }
    }
    case 'preconditionFailure':
      return {
        desc: PreconditionFailureSchema,
        message: create(PreconditionFailureSchema, { violations: [omitKind(detail)] }),
      }
    case 'retryInfo':
      return {
        desc: RetryInfoSchema,
        message: create(RetryInfoSchema, { retryDelay: toDuration(detail.delayMs) }),
      }
  }
}

function toDuration(ms: number): Message<'google.protobuf.Duration'> & { seconds: bigint; nanos: number } {
  const whole = Math.floor(ms / 1000)
  return create(DurationSchema, { seconds: BigInt(whole), nanos: Math.round((ms - whole * 1000) * 1e6) })
}

function omitKind<T extends { readonly kind: string }>({ kind: _kind, ...rest }: T): Omit<T, 'kind'> {
  return rest
}
