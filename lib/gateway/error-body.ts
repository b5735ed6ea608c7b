import { createRegistry } from '@bufbuild/protobuf'
import { AshlarError, HTTP_STATUS, Internal } from '../errors.js'
import { StatusSchema } from '../gen/google/rpc/status_pb.js'
import { DETAIL_TYPES, toStatus } from './error-details.js'
import { HttpError } from './http-error.js'
import { messageWriter } from './json-writer.js'
import type { Answer } from './respond.js'

const registry = createRegistry(...DETAIL_TYPES)
const writeStatus = messageWriter(StatusSchema)

/** The body of an error: `{ "code", "message", "details" }` with packed Any JSON details. */
export const errorBody = (error: AshlarError): string => writeStatus(toStatus(error), registry)

/** The HTTP status of an error: 412 for etags, else what google.rpc.Code says, unless the error knows better. */
export function httpStatusOf(error: AshlarError): number {
  if (error instanceof HttpError) return error.status
  const isEtag = error.details.some(
    (detail) => detail.kind === 'preconditionFailure' && detail.type === 'ETAG',
  )
  return isEtag && error.code === 'FAILED_PRECONDITION' ? 412 : HTTP_STATUS[error.code]
}

/** What is sent for something that was thrown. Anything but an AshlarError says no more than `internal error`. */
export function errorAnswer(thrown: unknown): Answer {
  const error = thrown instanceof AshlarError ? thrown : new Internal(thrown)
  const headers: Record<string, string> = { 'content-type': 'application/json', 'cache-control': 'no-store' }
  if (error.code === 'UNAUTHENTICATED') headers['www-authenticate'] = 'Bearer error="invalid_token"'
  const retry = error.details.find((detail) => detail.kind === 'retryInfo')
  if (retry !== undefined) headers['retry-after'] = String(Math.ceil(retry.delayMs / 1000))
  if (error instanceof HttpError) Object.assign(headers, error.headers)
  return { status: httpStatusOf(error), headers, body: errorBody(error) }
}
