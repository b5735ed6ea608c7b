import { createRegistry, type Registry } from '@bufbuild/protobuf'
import { AshlarError, httpHeadersOf, httpStatusOf, Internal } from '../../errors.js'
import { StatusSchema } from 'ashlar-annotations/google/rpc/status_pb.js'
import { DETAIL_TYPES, toStatus } from '../../error-details.js'
import { withImports } from '../json/type-registry.js'
import { OwnStatusError } from './own-status-error.js'
import { messageWriter } from '../json/writer.js'
import { type HttpResponse, NOSNIFF } from './respond.js'

const usual = createRegistry(...DETAIL_TYPES)
const writeStatus = messageWriter(StatusSchema)

/**
 * Returns the body of an error: `{ "code", "message", "details" }`, with details as JSON of
 * google.protobuf.Any.
 */
export const errorBody = (error: AshlarError): string =>
  writeStatus(toStatus(error), { registry: registryFor(error) })

/** Returns a registry with the types of details of unknown kind, and everything that these types import. */
const registryFor = ({ details }: AshlarError): Registry => {
  const files = details.flatMap((detail) => (detail.kind === undefined ? [detail.desc.file] : []))
  return files.length === 0 ? usual : createRegistry(usual, ...withImports(files))
}

/**
 * Returns the response to a thrown error. For anything except an AshlarError, the message is just `internal
 * error`.
 */
export function errorResponse(thrown: unknown): HttpResponse {
  const error = thrown instanceof AshlarError ? thrown : new Internal(thrown)
  const status = error instanceof OwnStatusError ? error.status : httpStatusOf(error)
  const own = error instanceof OwnStatusError ? error.headers : {}
  const headers = { 'content-type': 'application/json', ...NOSNIFF, ...httpHeadersOf(error), ...own }
  return { status, headers, body: errorBody(error) }
}
