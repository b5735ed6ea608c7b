import { create, type DescMessage, type Message, toBinary } from '@bufbuild/protobuf'
import { type Any, anyPack, DurationSchema } from '@bufbuild/protobuf/wkt'
import { type AshlarError, CODES, ERROR_DOMAIN, type ErrorDetail } from './errors.js'
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
} from './gen/google/rpc/error_details_pb.js'
import { type Status, StatusSchema } from './gen/google/rpc/status_pb.js'

/** The types that {@link toStatus} packs. */
export const DETAIL_TYPES: readonly DescMessage[] = [
  ErrorInfoSchema,
  BadRequestSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
]

/** The error as a remote caller sees it: HTTP sends it as the body, gRPC as `grpc-status-details-bin`. */
export const toStatus = (error: AshlarError): Status =>
  create(StatusSchema, {
    code: CODES[error.code],
    message: error.wireMessage,
    details: error.details.map(toAny),
  })

/** The bytes for `grpc-status-details-bin`. */
export const toStatusBytes = (error: AshlarError): Uint8Array => toBinary(StatusSchema, toStatus(error))

function toAny(detail: ErrorDetail): Any {
  switch (detail.kind) {
    case 'errorInfo':
      return pack(ErrorInfoSchema, create(ErrorInfoSchema, { ...omitKind(detail), domain: ERROR_DOMAIN }))
    case 'badRequest':
      return pack(
        BadRequestSchema,
        create(BadRequestSchema, {
          fieldViolations: detail.violations.map((violation) => ({ ...violation })),
        }),
      )
    case 'preconditionFailure':
      return pack(
        PreconditionFailureSchema,
        create(PreconditionFailureSchema, { violations: [omitKind(detail)] }),
      )
    case 'retryInfo':
      return pack(RetryInfoSchema, create(RetryInfoSchema, { retryDelay: toDuration(detail.delayMs) }))
  }
}

function toDuration(ms: number): Message<'google.protobuf.Duration'> & { seconds: bigint; nanos: number } {
  const whole = Math.floor(ms / 1000)
  return create(DurationSchema, { seconds: BigInt(whole), nanos: Math.round((ms - whole * 1000) * 1e6) })
}

const pack = (desc: DescMessage, message: Message): Any => anyPack(desc, message)

function omitKind<T extends { readonly kind: string }>({ kind: _kind, ...rest }: T): Omit<T, 'kind'> {
  return rest
}
