import { create, type DescMessage, fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import { type Any, anyPack, anyUnpack, DurationSchema } from '@bufbuild/protobuf/wkt'
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

/**
 * The details in the bytes of `grpc-status-details-bin`, as far as this framework knows them.
 * @throws where the bytes are no google.rpc.Status.
 */
export const detailsIn = (bytes: Uint8Array): readonly ErrorDetail[] =>
  fromBinary(StatusSchema, bytes).details.flatMap(ofAny)

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
