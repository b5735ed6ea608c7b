import { type DescField, type DescMethod, type Message, ScalarType } from '@bufbuild/protobuf'
import { MethodOptions_IdempotencyLevel as Level } from '@bufbuild/protobuf/wkt'
import { randomUUID } from 'node:crypto'
import { isGetAlone } from '../../resource/messages/http-paths.js'
import type { Local } from '../../resource/messages/local-field.js'

/** Matches the names of standard methods that read. */
const READS = /^(Get|List|BatchGet)[A-Z]/

/**
 * Returns true if a method may run twice: it only reads according to its HTTP rules, name or
 * `idempotency_level`; it is declared idempotent; or its request has a `request_id` (AIP-155).
 */
export const isRepeatable = (method: DescMethod): boolean =>
  method.methodKind === 'unary' &&
  (method.idempotency !== Level.IDEMPOTENCY_UNKNOWN ||
    READS.test(method.name) ||
    isGetAlone(method) ||
    requestIdOf(method) !== undefined)

/**
 * Adds a request id if the request has a field for it and the caller has not set one. The server then
 * recognizes a repetition.
 */
export const identify = (method: DescMethod, request: Message): void => {
  const field = requestIdOf(method)
  const values = request as Local
  if (field !== undefined && (values[field.localName] ?? '') === '') values[field.localName] = randomUUID()
}

const requestIdOf = ({ input }: DescMethod): DescField | undefined =>
  input.fields.find(
    ({ name, fieldKind, scalar, oneof }) =>
      name === 'request_id' && fieldKind === 'scalar' && scalar === ScalarType.STRING && oneof === undefined,
  )
